import { describe, expect, test } from 'vitest';
import { BELOW_ALL } from '../../../src/pagination/id-bounds.ts';
import { ReadAhead } from '../../../src/pagination/keyset/ahead.ts';
import { overlapOf } from '../../../src/pagination/keyset/interval.ts';
import { type ReadContext, reduce } from '../../../src/pagination/keyset/reduce.ts';
import type { IntervalState, ReadState } from '../../../src/pagination/keyset/state.ts';
import type { PageQuery, PageResponse } from '../../../src/pagination/page.ts';
import { reading } from '../../support/keyset-state.ts';
import { settle } from '../../support/scripted-server.ts';

// Each rule of `ahead.ts`. The requests are named by the ids that they ask for: `58-82` is id[gt]=58&id[lte]=82.

const context: ReadContext = {
  bounds: undefined,
  range: { after: BELOW_ALL, through: undefined },
  onlyChanges: false,
  facts: { method: 'GET', path: '/accounts', attempts: 1, outcome: 'applied' },
};

/** An interval is expected to have 24 of 30 rows, so these ids are dense. */
const dense = reading({ through: 82n });
/** One of ten ids exists, so the next interval is guessed to begin 3 × (10 − 1) ids earlier. */
const sparse: IntervalState = { ...dense, through: 298n, width: 240n };

const range = (from: number, to: number, step = 1) =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, n) => from + n * step);

interface Rows {
  readonly ids: readonly (number | string)[];
  /** Invalid rows without an id. */
  readonly nameless?: number;
  /** What is left of the quota. */
  readonly remaining?: number;
}

const responseOf = ({ ids, nameless = 0, remaining }: Rows): PageResponse<unknown> => {
  const rows = ids.map((id) => ({ id: String(id) }));
  const time = { serverTime: undefined, requestedAt: new Date(0), durationMs: 0 };
  return {
    ...time,
    rows: [...rows, ...Array.from({ length: nameless }, () => ({}))],
    records: rows,
    ids: ids.map(String),
    sent: rows,
    invalid: Array.from({ length: nameless }, () => ({ id: undefined, issues: [], record: {} })) as never,
    rateLimit: remaining === undefined ? undefined : ({ limit: 100, remaining } as never),
    first: time,
  };
};

/** A read whose responses come from the test. */
function readAhead(prefetch = 4, options: Partial<ReadContext> = {}) {
  const sent: { name: string; signal: AbortSignal; respond(rows: Rows): void; fail(error: Error): void }[] =
    [];
  const fetchPage = ({ page, id = {} }: PageQuery, signal: AbortSignal) =>
    new Promise<PageResponse<unknown>>((resolve, reject) => {
      const name = `${page === undefined ? '' : `page ${page} of `}${id.gt ?? ''}-${id.lte ?? ''}`;
      sent.push({ name, signal, respond: (rows) => resolve(responseOf(rows)), fail: reject });
    });
  let seen = 0;
  const { facts } = context;
  const ahead = new ReadAhead(
    fetchPage,
    { prefetch, signal: new AbortController().signal, facts },
    { ...context, ...options },
  );
  const requestOf = (name: string) => {
    const found = sent.findLast((request) => request.name === name);
    if (found === undefined)
      throw new Error(`${name} was not requested, but ${sent.map((each) => each.name)}`);
    return found;
  };
  return {
    /** The requests since the last call. */
    requested: () => {
      const names = sent.slice(seen).map(({ name }) => name);
      seen = sent.length;
      return names;
    },
    isAborted: (name: string) => requestOf(name).signal.aborted,
    respond: async (name: string, rows: Rows | readonly (number | string)[]) => {
      requestOf(name).respond('ids' in rows ? rows : { ids: rows });
      await settle(3);
    },
    fail: async (name: string) => {
      requestOf(name).fail(new Error(`${name} failed`));
      await settle(3);
    },
    /** Requests what a state needs. Resolves to what was taken for it, and the state after it. */
    async take(state: ReadState, wanted = Number.POSITIVE_INFINITY) {
      const taking = ahead.take(state, wanted).then(({ response, asked }) => {
        const { state: next } = reduce(state, response, context, { asked });
        return {
          next,
          ids: response.ids,
          asked: asked && `${asked.after}-${asked.through}`,
          isGap: asked?.isGap,
        };
      });
      let settled = false;
      const end = () => {
        settled = true;
      };
      taking.then(end, end);
      await settle(3);
      return { taking, isSettled: () => settled };
    },
  };
}

describe('how many intervals are requested', () => {
  test.each([
    [0, ['58-82']],
    [1, ['58-82']],
    [2, ['58-82', '82-106']],
    [4, ['58-82', '82-106', '106-130', '130-154']],
  ])('prefetch %d: as many, without gaps one behind the other', async (prefetch, names) => {
    const read = readAhead(prefetch);
    await read.take(dense);
    expect(read.requested()).toEqual(names);
  });

  test.each([
    [29, 1],
    [30, 2],
    [75, 3],
  ])('%d records that the caller still takes: %d pages of 30', async (wanted, pages) => {
    const read = readAhead();
    await read.take(dense, wanted);
    expect(read.requested()).toHaveLength(pages);
  });

  test.each<[string, ReadState, Partial<ReadContext>]>([
    ['in a list of changes', dense, { onlyChanges: true }],
    ['in another order', { ...dense, inOrder: false }, {}],
    ['before the direction is known', { ...dense, directionKnown: false }, {}],
    ['of the range before a single row', { ...dense, singleKey: 83n }, {}],
    ['of an open interval', { ...dense, through: undefined }, {}],
    ['before the width is known', { ...dense, width: undefined }, {}],
  ])('one %s', async (_, state, options) => {
    const read = readAhead(4, options);
    await read.take(state);
    expect(read.requested()).toHaveLength(1);
  });

  test.each([
    [8, ['153-182']],
    [7, []],
  ])('one at a time while %d requests are left: %j', async (remaining, names) => {
    const read = readAhead();
    await read.take(dense);
    read.requested();
    await read.respond('82-106', { ids: range(83, 106), remaining });
    await read.respond('58-82', { ids: range(59, 82), remaining });
    const { taking } = await read.take({ ...dense, after: 82n, through: 106n });
    expect((await taking).asked).toBe('82-106');
    expect(read.requested()).toEqual(names);
  });
});

describe('rule 1', () => {
  test('a response that begins earlier is used, and only once', async () => {
    const read = readAhead();
    const first = await read.take(sparse);
    expect(read.requested()).toEqual(['58-298', '271-511', '484-724', '697-937']);
    await read.respond('58-298', range(60, 290, 10));
    const { next, asked } = await first.taking;
    expect([asked, next.after]).toEqual(['58-298', 290n]);
    const second = await read.take(next);
    await read.respond('271-511', range(280, 510, 10));
    expect(await second.taking).toMatchObject({ asked: '271-511', isGap: false, next: { after: 510n } });
    // The first one, which ended before, was dropped.
    expect(['58-298', '271-511', '484-724'].map(read.isAborted)).toEqual([true, false, false]);
  });

  test('a row without an id keeps a response from being used, unless it begins at the interval', async () => {
    const read = readAhead();
    const first = await read.take(sparse);
    await read.respond('271-511', { ids: range(280, 500, 10), nameless: 1 });
    await read.respond('484-724', range(490, 720, 10));
    await read.respond('58-298', { ids: range(60, 290, 10), nameless: 1 });
    const { next, asked } = await first.taking;
    expect(asked).toBe('58-298');
    const second = await read.take(next);
    await read.respond('290-490', range(300, 490, 10));
    expect((await second.taking).asked).toBe('290-490');
  });
});

describe('rule 2', () => {
  test.each([
    ['three mean gaps before the end', 240n, 30, 27n],
    ['rounded up', 241n, 30, 28n],
    ['none if the ids are dense', 24n, 30, 0n],
    ['none if they are denser than ids can be', 20n, 30, 0n],
    ['at most half of the interval', 240n, 2, 120n],
    ['even if no page had a row', 240n, 0, 120n],
  ])('the overlap is %s', (_, width, pageSize, overlap) => {
    expect(overlapOf(width, pageSize)).toBe(overlap);
  });

  test('after a narrowed interval, which ends with a row, there is no overlap', async () => {
    const read = readAhead(2);
    await read.take({ ...sparse, through: 228n, timesNarrowed: 1 });
    expect(read.requested()).toEqual(['58-228', '228-468']);
  });

  test('an interval is never guessed to begin where the last one does', async () => {
    const read = readAhead(3);
    await read.take({ ...sparse, through: 60n });
    expect(read.requested()).toEqual(['58-60', '59-299', '272-512']);
  });
});

describe('rule 3', () => {
  test('what a response needs is requested when it arrives, before its turn', async () => {
    const read = readAhead(3);
    const { isSettled } = await read.take(sparse);
    read.requested();
    // Full: narrowed.
    await read.respond('271-511', range(280, 425, 5));
    expect(read.requested()).toEqual(['271-420']);
    expect(isSettled()).toBe(false);
  });

  test('a full response is narrowed when it arrives, and a longer one does not replace it', async () => {
    const read = readAhead(2);
    const { taking } = await read.take(sparse);
    read.requested();
    await read.respond('58-298', range(60, 234, 6));
    expect(read.requested()).toEqual(['58-228']);
    await read.respond('58-228', range(60, 228, 6));
    expect(await taking).toMatchObject({ asked: '58-228', next: { after: 228n } });
    await read.take({ ...sparse, after: 290n, through: 400n, timesNarrowed: 1 });
    expect(read.requested()).toContain('290-400');
  });

  test('nothing is requested behind an interval that failed', async () => {
    const read = readAhead(3);
    const first = await read.take(dense);
    await read.fail('82-106');
    await read.respond('58-82', range(59, 82));
    const { next } = await first.taking;
    read.requested();
    const second = await read.take(next);
    expect(read.requested()).toEqual([]);
    await expect(second.taking).rejects.toThrow('82-106 failed');
  });
});

describe('rule 4', () => {
  /** 58-298 was read up to its last row, 190: the next interval was guessed to begin at 271. */
  async function shortOf(rows: readonly number[] = range(60, 190, 5)) {
    const read = readAhead();
    const first = await read.take(sparse);
    await read.respond('58-298', rows);
    const { next } = await first.taking;
    read.requested();
    return { ...read, next };
  }

  test('what two responses leave out is requested, up to the first row of the second', async () => {
    const read = await shortOf();
    const second = await read.take(read.next);
    // Not known yet where that is.
    expect(read.requested()).toEqual([]);
    await read.respond('484-724', range(490, 720, 10));
    expect(read.requested()).toEqual([]);
    await read.respond('271-511', range(280, 500, 10));
    expect(read.requested()).toContain('190-280');
    await read.respond('190-280', [200, 280]);
    const { next, isGap } = await second.taking;
    expect([next.after, isGap]).toEqual([280n, true]);
    const third = await read.take(next);
    expect((await third.taking).asked).toBe('271-511');
  });

  test('an empty response is a gap if a later one has rows', async () => {
    const read = await shortOf(range(60, 295, 10));
    const second = await read.take(read.next);
    await read.respond('697-937', range(700, 930, 10));
    read.requested();
    await read.respond('271-511', [275, 290]);
    // 484-724 may have an earlier row.
    expect(read.requested()).toEqual([]);
    await read.respond('484-724', []);
    expect(read.requested()).toEqual(['290-700']);
    expect(second.isSettled()).toBe(false);
  });

  test('an empty gap is used, so that the read goes on without guesses, which are aborted', async () => {
    const read = await shortOf();
    const second = await read.take(read.next);
    await read.respond('271-511', range(280, 500, 10));
    await read.respond('190-280', []);
    const { next } = await second.taking;
    expect(next.phase).toBe('behind_end');
    read.requested();
    await read.take(next);
    expect(read.requested()).toEqual(['page 2 of 190-']);
    expect(['484-724', '697-937'].map(read.isAborted)).toEqual([true, true]);
    // What still arrives requests nothing.
    await read.respond('484-724', range(490, 720, 10));
    expect(read.requested()).toEqual([]);
  });

  test('a gap is requested when the response behind it arrives, before the consumer asks for the next page', async () => {
    const read = await shortOf();
    await read.respond('271-511', range(280, 500, 10));
    expect(read.requested()).toEqual(['190-280']);
  });
});

describe('rule 5', () => {
  const empty: readonly number[] = [];
  test.each([
    ['an empty one: none', [empty], 1],
    ['one less than half full: one less', [range(59, 72)], 3],
    ['two of them: two less', [range(59, 72), range(73, 86)], 2],
    ['six of them: one is left', Array.from({ length: 6 }, (_, n) => range(59 + 14 * n, 72 + 14 * n)), 1],
    [
      'six of them and one that is half full: two',
      [...Array.from({ length: 6 }, (_, n) => range(59 + 14 * n, 72 + 14 * n)), range(143, 157)],
      2,
    ],
    ['one that is half full: as many as before, at most', [range(59, 73)], 4],
    ['two and one that is half full: one more again', [range(59, 72), range(73, 86), range(87, 101)], 3],
  ])('after responses to exact intervals of 24 ids, %s', async (_, responses, depth) => {
    const read = readAhead();
    let after = 58n;
    for (const ids of responses) {
      // The caller takes no more, so that nothing is guessed.
      const { taking } = await read.take({ ...dense, after, through: after + 30n }, 0);
      await read.respond(`${after}-${after + 30n}`, ids);
      await taking;
      after = BigInt(ids.at(-1) ?? after);
    }
    read.requested();
    await read.take({ ...dense, after: 1000n, through: 1024n });
    expect(read.requested()).toHaveLength(depth);
  });

  test('a gap says nothing of the rows behind it', async () => {
    const read = readAhead();
    const first = await read.take(sparse);
    await read.respond('58-298', range(60, 190, 5));
    const { next } = await first.taking;
    const second = await read.take(next);
    await read.respond('271-511', range(280, 500, 10));
    await read.respond('190-280', [280]);
    await second.taking;
    read.requested();
    await read.take({ ...dense, after: 2000n, through: 2024n });
    expect(read.requested()).toHaveLength(4);
  });
});
