/**
 * A text without what differs between two runs of a test: the number of a call, which counts over all tests of a process,
 * ids and marks of runs, and digests with their salts.
 */
export function withoutChance(text: string): string {
  return text
    .replaceAll(/(?<=accounting-data-sdk )#\d+/g, '#1')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}(?:(?:-[0-9a-f]{4}){2}-[0-9a-f]{12})?(?![0-9a-f-])/g, 'UUID')
    .replaceAll(/\b(?:[0-9a-f]{16}|[0-9a-f]{8}(?=\\*"))\b/g, 'DIGEST');
}
