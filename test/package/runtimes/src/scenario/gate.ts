import { Books } from './books.ts';
import { check, equal } from './expect.ts';

export const CALLS = 50;

/** What a call of its own needs: nothing but data, for it may be made in another request of a worker. */
export interface Call {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly id: string;
}

/** Fifty calls with a budget of twenty a second: all are answered, and hardly one is refused. */
export async function gate(orders: string, make: (call: Call) => Promise<string>): Promise<string> {
  const books = await Books.open(orders, {
    records: { accounts: CALLS },
    rateLimit: { limit: 20, windowMs: 1_000 },
  });
  const { accounts } = await books.look();
  const read = await Promise.all(accounts.map((id) => make({ ...books.clientOptions, id })));
  equal(read, accounts, 'what was read');

  const { requests } = await books.look();
  const refused = requests.filter(({ status }) => status === 429).length;
  equal(requests.length - refused, CALLS, 'the number of answered requests');
  // Without a gate thirty are refused at once, and more when these come again.
  check(refused <= 10, `at most 10 refused requests, not ${refused}`);
  await books.close();
  return `${CALLS} answered, ${refused} refused`;
}
