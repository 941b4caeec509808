/** How a changeset stands in CHANGELOG.md: its sentence as it is, as a line of a list. */
export default {
  getReleaseLine: ({ summary }) => (summary.startsWith('- ') ? summary : `- ${summary}`),
  getDependencyReleaseLine: () => '',
};
