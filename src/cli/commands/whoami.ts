import type { Client } from '../../client.ts';
import { type CollectionName, collectionNames, collections } from '../../collections/index.ts';
import { isApiError } from '../../errors/guards.ts';
import { type AddCommand, CommandFailure } from '../command.ts';
import { type ConnectFlags, connect, connectable } from '../connect.ts';
import { EXIT } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { tableLines } from '../table.ts';

/** What the key may do with a collection: read it, or the code of the error that says no. */
interface Access {
  readonly collection: CollectionName;
  readonly access: string;
}

interface Flags extends ConnectFlags {
  readonly json?: true;
}

/** `accounting-data-sdk whoami`: what a key may read. */
export const addWhoami: AddCommand = (program, io) => {
  connectable(
    program
      .command('whoami')
      .description('show what this key may read: one small request for each collection')
      .option('--json', 'as JSON'),
    [
      'accounting-data-sdk whoami',
      'accounting-data-sdk whoami --json | jq -r \'.collections[] | select(.access != "readable") | .collection\'',
    ],
  ).action(async (flags: Flags) => {
    const client = await connect(io, flags);
    const report = await lookAround(client, flags, io);
    if (flags.json) io.out(JSON.stringify(report, undefined, 2));
    else for (const line of textOf(report, io.columns)) io.out(line);
    if (report.collections.some(({ access }) => access === 'readable')) return;
    throw new CommandFailure('The key is known, and may read nothing.', {
      advice: 'Use a key of a user who may read the books.',
      exitCode: EXIT.denied,
    });
  });
};

async function lookAround(client: Client, { quiet }: Flags, io: Io) {
  const found: Access[] = [];
  for (const collection of collectionNames) {
    if (!quiet) io.status?.(`${collection} (${found.length + 1} of ${collectionNames.length})`);
    found.push({ collection, access: await accessTo(client, collection, io.signal) });
  }
  io.status?.(undefined);
  return { baseUrl: client.accounts.baseUrl, collections: found, budget: client.rateLimit };
}

/** A refusal is an answer here; anything else that goes wrong is not, nor is a key that is not known at all. */
async function accessTo(client: Client, collection: CollectionName, signal: AbortSignal): Promise<string> {
  try {
    await client.request({ path: [collections[collection].segment] }, { signal });
    return 'readable';
  } catch (error) {
    if (!isApiError(error) || isApiError(error, 'unauthenticated')) throw error;
    return error.code;
  }
}

type Report = Awaited<ReturnType<typeof lookAround>>;

function textOf({ baseUrl, collections: found, budget }: Report, columns: number | undefined): string[] {
  const rows = found.map(({ collection, access }) => [collection, access]);
  const left = budget === undefined ? 'not reported' : `${budget.remaining} of ${budget.limit} requests left`;
  return [
    ...tableLines(rows, { head: ['collection', 'access'], columns }),
    '',
    `service  ${baseUrl}`,
    `budget   ${left}`,
  ];
}
