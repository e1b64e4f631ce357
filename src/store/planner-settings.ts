/** How every connection plans, and every session that a cluster opens on its nodes for one. */
export const plannerSettings = {
  // JIT compilation would take longer than any of these queries.
  jit: 'off',
  // Without knowing the parameters, the planner reserves far too much memory for it.
  enable_memoize: 'off',
  // Every look-up has an index with the right order. A plan that was made while a table was small must still
  // be right when it has grown (docs/decisions/0005-plans-and-statements.md).
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_sort: 'off',
} as const;
