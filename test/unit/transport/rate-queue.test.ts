import { expect, test } from 'vitest';
import { type Lane, type Queued, RateQueue } from '../../../src/transport/rate-queue.ts';

interface Waiting extends Queued {
  readonly name: string;
}

function queueOf(...waiting: readonly Waiting[]): RateQueue<Waiting> {
  const queue = new RateQueue<Waiting>();
  for (const waiter of waiting) queue.add(waiter);
  return queue;
}

const named = (lane: Lane, count: number) =>
  Array.from(
    { length: count },
    (_, index): Waiting => ({ lane, number: index, name: `${lane} ${index + 1}` }),
  );

function drain(queue: RateQueue<Waiting>): string[] {
  const names: string[] = [];
  for (let next = queue.next(); next !== undefined; next = queue.next()) names.push(next.name);
  return names;
}

test('an empty queue has nobody', () => {
  const queue = queueOf();
  expect([queue.size, queue.head, queue.next()]).toEqual([0, undefined, undefined]);
});

test('within a lane, first come, first served', () => {
  expect(drain(queueOf(...named('background', 3)))).toEqual(['background 1', 'background 2', 'background 3']);
});

test('the front goes before everyone', () => {
  const queue = queueOf(...named('background', 1), ...named('interactive', 1), ...named('front', 2));
  expect(drain(queue)).toEqual(['front 1', 'front 2', 'interactive 1', 'background 1']);
});

test('background calls keep one slot in five for as long as interactive ones pass them', () => {
  const queue = queueOf(...named('background', 3), ...named('interactive', 9));
  const lanes = drain(queue).map((name) => name[0]);
  expect(lanes.join('')).toBe('iiiibiiiibib');
});

test('interactive calls that pass nobody use up no turns', () => {
  const queue = queueOf(...named('interactive', 9));
  drain(queue);
  queue.add({ lane: 'background', number: 10, name: 'background' });
  queue.add({ lane: 'interactive', number: 11, name: 'interactive' });
  expect(drain(queue)).toEqual(['interactive', 'background']);
});

test('the head is the next one, and stays where it is', () => {
  const queue = queueOf(...named('background', 1), ...named('interactive', 1));
  expect(queue.head?.name).toBe('interactive 1');
  expect(queue.size).toBe(2);
  expect(queue.next()?.name).toBe('interactive 1');
});

test('one who leaves is not called', () => {
  const [gone, stays] = named('interactive', 2) as [Waiting, Waiting];
  const queue = queueOf(gone, stays);
  queue.remove(gone);
  expect(drain(queue)).toEqual(['interactive 2']);
});

test('one who comes back stands where it stood', () => {
  const waiting = named('background', 4);
  const queue = queueOf(...waiting);
  queue.remove(waiting[1] as Waiting);
  queue.restore(waiting[1] as Waiting);
  expect(drain(queue)).toEqual(waiting.map(({ name }) => name));
});
