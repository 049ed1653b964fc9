/**
 * Makes the anchor of a heading as GitHub does, so that a link leads to the same place there and in the site.
 *
 * @param {string} heading its text
 * @returns {string}
 */
export function anchorOf(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}
