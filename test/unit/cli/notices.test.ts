import { expect, test } from 'vitest';
import { type NoticeKind, Notices } from '../../../src/cli/push/notices.ts';

/** The sentences about so many places of each kind. */
function sentencesOf(counts: Partial<Record<NoticeKind, number>>): readonly string[] {
  const notices = new Notices();
  for (const [kind, count = 0] of Object.entries(counts))
    for (let n = 1; n <= count; n += 1) notices.add(kind as NoticeKind, `line ${n}`);
  return notices.sentences;
}

test.each([
  [1, /^1 row without .*: line 1\.$/, / text of a list: /, /in 1 cell: line 1\. Pass/],
  [
    2,
    /^2 rows without .*: line 1 and 1 more\.$/,
    / \(and 1 more row\): /,
    /in 2 cells: line 1; line 2\. Pass/,
  ],
  [11, /: line 1 and 10 more\.$/, / \(and 10 more rows\): /, /in 11 cells: .*; line 10 and 1 more\. Pass/],
  [1_200, /^1,200 rows .* and 1199 more\.$/, /and 1,199 more rows/, /; line 10 and 1190 more\. Pass/],
])('%i places of a kind are one sentence, in the order of the kinds', (count, skipped, mark, emptied) => {
  const sentences = sentencesOf({ emptied: count, mark: count, skipped: count });
  expect(sentences).toEqual([skipped, mark, emptied].map((said) => expect.stringMatching(said)));
});
