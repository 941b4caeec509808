import { DEFAULTS, type Settings } from '../settings.ts';

interface About {
  readonly title: string;
  readonly see: string;
  readonly settings: Settings;
}

export type ProgramName = keyof typeof PROGRAM_SETTINGS;

/** What each program is called, what to look at, and the sandbox that shows it. */
export const PROGRAM_SETTINGS = {
  'reading-ahead': {
    title: 'Reading ahead',
    see: 'The next page is requested while the loop works on the last one.',
    settings: { ...DEFAULTS, records: 900, responseMs: 80 },
  },
  'lost-response': {
    title: 'A lost response',
    see: 'The create is sent again under its key, and there is one product.',
    settings: { ...DEFAULTS, records: 0, responseMs: 60, fault: 'lost response' },
  },
  'rate-limit': {
    title: 'A 429 and the wait',
    see: 'The hatched area is the wait that the 429 asks for.',
    settings: { ...DEFAULTS, responseMs: 60, quota: 5 },
  },
  deletions: {
    title: 'Deletions during a read',
    see: 'By page, a product is missed. By keyset, none is.',
    settings: { ...DEFAULTS, records: 600, pageSize: 10, responseMs: 20 },
  },
  sync: {
    title: 'Sync, change, sync',
    see: 'The second sync reads what changed, not everything.',
    settings: { ...DEFAULTS, records: 900, responseMs: 40 },
  },
  'push-twice': {
    title: 'Push twice',
    see: 'The second push only sends what differs.',
    settings: { ...DEFAULTS, records: 0, responseMs: 40 },
  },
  abort: {
    title: 'An abort',
    see: 'The request that runs ends at once, and none follows.',
    settings: { ...DEFAULTS, records: 900, responseMs: 250 },
  },
  errors: {
    title: 'Typed errors',
    see: 'Each error has a code, and says what the service may have done.',
    settings: { ...DEFAULTS, responseMs: 40 },
  },
} as const satisfies Readonly<Record<string, About>>;
