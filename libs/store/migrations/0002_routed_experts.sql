ALTER TABLE events
    ADD COLUMN IF NOT EXISTS token_routed_experts Array(Int32) COMMENT 'As many for each token; empty where unknown' CODEC(T64, LZ4)
    AFTER token_policy_versions;
