import type { Shared } from '../link.ts';
import abort from './abort.ts?raw';
import deletions from './deletions.ts?raw';
import errors from './errors.ts?raw';
import lostResponse from './lost-response.ts?raw';
import pushTwice from './push-twice.ts?raw';
import rateLimit from './rate-limit.ts?raw';
import readingAhead from './reading-ahead.ts?raw';
import { PROGRAM_SETTINGS, type ProgramName } from './settings.ts';
import sync from './sync.ts?raw';

const CODE: Readonly<Record<ProgramName, string>> = {
  'reading-ahead': readingAhead,
  'lost-response': lostResponse,
  'rate-limit': rateLimit,
  deletions,
  sync,
  'push-twice': pushTwice,
  abort,
  errors,
};

/** A program to start from, and the one thing to see in it. */
export interface StartProgram extends Shared {
  readonly name: ProgramName;
  readonly title: string;
  readonly see: string;
}

export const programs: readonly StartProgram[] = (Object.keys(CODE) as ProgramName[]).map((name) => ({
  name,
  code: CODE[name],
  ...PROGRAM_SETTINGS[name],
}));
