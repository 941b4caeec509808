import { expect, test, vi } from 'vitest';
import { caught } from '../support/caught.ts';
import { noResponse, problemResponse, scriptedClient, scriptedFetch } from '../support/scripted-fetch.ts';
import { advance, stateOf, useVirtualClock } from '../support/virtual-clock.ts';

useVirtualClock();

const HOUR_MS = 3_600_000;

test.each([-HOUR_MS, HOUR_MS])(
  'a deadline of 2.5 s ends after 2.5 s, even if the clock is set by %i ms',
  async (byMs) => {
    const fetch = scriptedFetch(problemResponse(503), ({ init }) => noResponse(init.signal));
    const call = caught(scriptedClient(fetch).accounts.get('1', { deadlineMs: 2_500 }));
    await advance(0);
    vi.setSystemTime(Date.now() + byMs);
    await advance(1_100);
    expect(await stateOf(call)).toBe('pending');
    await advance(1_400);
    expect(await call).toMatchObject({ code: 'timeout', limit: 'deadline', attempts: 2 });
  },
);
