import { CheckpointError } from '../../errors/checkpoint-error.ts';
import type { ResumePosition } from '../page.ts';
import { isEnded, type Learned, type ReadContext, type ReadState, startOf } from './read.ts';

/**
 * The position of a keyset read that continues by page, because an id is not an integer. Resumed there it reads from
 * the first page again: page n cannot be resumed.
 */
export const BY_PAGE: ResumePosition = { pagination: 'page' };

const FLAGS = [
  'inOrder',
  'hidesPages',
  'lostRows',
  'cutsShort',
  'hasFew',
  'boundsApply',
  'notByDate',
] as const;
/** `behind`: how far the last known row is behind `after`, mostly 0. Two long ids would take too much of a short state. */
const KEYS = ['after', 'behind', 'highest', 'idLimit'] as const;

/** Where a read is resumed, and what it learned of the service: plain JSON, without what is false or undefined. */
export function positionOf(state: ReadState): ResumePosition {
  const { order, gap, highest } = state;
  // After the end a read continues behind the last row: others may have been written by then.
  const after = isEnded(state) ? highest : state.after;
  const row = state.known.findLast((key) => after === undefined || key <= after);
  const keys = { ...state, after, behind: row === undefined ? undefined : (after ?? 0n) - row };
  return {
    pagination: 'keyset',
    order,
    ...(gap === undefined ? {} : { gap }),
    ...Object.fromEntries(FLAGS.flatMap((name) => (state[name] ? [[name, true]] : []))),
    ...Object.fromEntries(
      KEYS.flatMap((name) => (keys[name] === undefined ? [] : [[name, String(keys[name])]])),
    ),
  };
}

/** The state to resume with; undefined for {@link BY_PAGE}. Anything but a whole position is a CheckpointError. */
export function stateOf(position: ResumePosition, context: ReadContext): ReadState | undefined {
  const { pagination, order, gap } = position;
  if (pagination === 'page') return undefined;

  const isWhole =
    FLAGS.every((name) => position[name] === undefined || position[name] === true) &&
    KEYS.every((name) => position[name] === undefined || /^-?\d{1,60}$/.test(String(position[name]))) &&
    (gap === undefined || (typeof gap === 'number' && gap >= 1));
  if (pagination !== 'keyset' || (order !== 'asc' && order !== 'desc') || !isWhole) throw invalidPosition();

  const key = (name: (typeof KEYS)[number]) =>
    position[name] === undefined ? undefined : BigInt(String(position[name]));
  const [highest, idLimit] = [key('highest'), key('idLimit')];
  if (idLimit === undefined) throw invalidPosition();

  const isSet = (name: (typeof FLAGS)[number]) => position[name] === true;
  const learned: Learned = {
    order,
    inOrder: isSet('inOrder'),
    hidesPages: isSet('hidesPages'),
    lostRows: isSet('lostRows'),
    cutsShort: isSet('cutsShort'),
    hasFew: isSet('hasFew'),
    boundsApply: isSet('boundsApply'),
    notByDate: isSet('notByDate'),
    gap,
    highest,
    idLimit,
  };
  const [after, behind] = [key('after'), key('behind')];
  return startOf(context, learned, { after, row: behind === undefined ? undefined : (after ?? 0n) - behind });
}

function invalidPosition(): CheckpointError {
  return new CheckpointError('The resume token does not hold a position of keyset pagination.', {
    hint: 'Read from the start instead: leave resumeFrom out.',
  });
}
