import { type IntervalState, START } from '../../src/pagination/keyset/state.ts';

/** A read in the middle of a collection, 30 per page. */
export const reading = (changed: Partial<IntervalState> = {}): IntervalState => ({
  ...START,
  directionKnown: true,
  mostRows: 30,
  longest: 30,
  rows: 58,
  neighbours: 56,
  after: 58n,
  width: 24n,
  highest: 58n,
  ...changed,
});
