import { IdLink } from './id-link';

interface GroupLinkProps {
  readonly groupId: string;
  /** The episode's place in the group, shown with the id. */
  readonly member?: number;
  /** Run of its episodes; the run of the page unless given. */
  readonly runId?: string;
}

/** A link with the end of a group's id, from any page of a run to the list of the group's episodes. */
export function GroupLink({ groupId, member, runId }: GroupLinkProps) {
  const run = runId === undefined ? '..' : `/runs/${runId}`;
  return (
    <IdLink
      id={groupId}
      to={`${run}/episodes?groupId=${encodeURIComponent(groupId)}`}
      title={`Show only group ${groupId}`}
    >
      {member !== undefined && `·${member}`}
    </IdLink>
  );
}
