/** How a changeset stands in CHANGELOG.md: its sentences as they are, each a line of a list. */
export default {
  getReleaseLine: ({ summary }) => asList(summary),
  getDependencyReleaseLine: () => '',
};

/** @param {string} summary */
export function asList(summary) {
  const text = summary.trim();
  return text.startsWith('- ') ? text : `- ${text}`;
}
