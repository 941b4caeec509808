import { type WhoamiReport, whoami } from 'accounting-data-sdk/explore';
import type { Command } from 'commander';
import { type ConnectFlags, connect, connectable } from '../connect.ts';
import { nothingReadable } from '../errors.ts';
import type { CommandIo } from '../io.ts';
import { bar } from '../progress.ts';
import { tableLines } from '../table.ts';

interface Flags extends ConnectFlags {
  readonly json?: true;
}

/** `accounting-data-sdk whoami`: what a key may read. */
export function addWhoami(program: Command, io: CommandIo): void {
  connectable(
    program
      .command('whoami')
      .description('show what this key may read: one small request for each collection')
      .option('--json', 'as JSON'),
    ['accounting-data-sdk whoami', "accounting-data-sdk whoami --json | jq '.collections[].access'"],
  ).action(async (flags: Flags) => {
    const { client } = await connect(io, flags);
    const report = await whoami(client, {
      signal: io.signal,
      onProgress: ({ collection, done, of }) =>
        io.status?.(`${bar(done, of)} ${collection} (${done + 1} of ${of})`),
    });
    if (flags.json) io.out(JSON.stringify(report, undefined, 2));
    else for (const line of textOf(report, io.columns)) io.out(line);
    if (report.collections.some(({ access }) => access === 'readable')) return;
    throw nothingReadable(report.collections.map(({ access }) => access));
  });
}

function textOf({ baseUrl, collections, quota }: WhoamiReport, columns: number | undefined): string[] {
  const rows = collections.map(({ collection, access }) => [collection, access]);
  const left = quota === undefined ? 'not reported' : `${quota.remaining} of ${quota.limit} requests left`;
  return [
    ...tableLines(rows, { head: ['collection', 'access'], columns }),
    '',
    `service  ${baseUrl}`,
    `quota    ${left}`,
  ];
}
