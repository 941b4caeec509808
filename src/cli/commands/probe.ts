import type { CollectionName } from 'accounting-data-sdk';
import { type CollectionFindings, type ProbeOptions, probe } from 'accounting-data-sdk/tools';
import type { Command } from 'commander';
import { collectionNameList, jsonObject } from '../arguments.ts';
import { type ConnectFlags, connect, connectable } from '../connect.ts';
import { CommandFailure, EXIT } from '../errors.ts';
import type { Io } from '../io.ts';
import { configurationLines, partialLines, reportLines } from '../probe-report.ts';

interface Flags extends ConnectFlags {
  readonly json?: true;
  readonly config?: true;
  readonly write?: true;
  readonly draft?: Readonly<Record<string, unknown>>;
  readonly yes?: true;
}

/** `accounting-data-sdk probe`: what the API documentation leaves open. */
export function addProbe(program: Command, io: Io): void {
  connectable(
    program
      .command('probe')
      .description(
        'find out what the API documentation leaves open: page size, order, filters, ids, quota, errors',
      )
      .argument('[collections...]', 'the collections to read; default: all', collectionNameList)
      .option('--json', 'the whole report as JSON, with the evidence for each finding')
      .option('--config', 'print only the client options that fit the service')
      .option('--write', 'also create, update and delete a product; asks first')
      .option('--draft <json>', 'with --write: fields of the product that the service requires', jsonObject)
      .option('--yes', 'with --write: do not ask'),
    [
      'accounting-data-sdk probe',
      'accounting-data-sdk probe accounts products --json > service.json',
      'accounting-data-sdk probe --config',
      `accounting-data-sdk probe products --write --draft '{"productNumber":"PROBE-1"}'`,
    ],
  ).action((names: CollectionName[], flags: Flags) => run(names, flags, io));
}

async function run(names: readonly CollectionName[], flags: Flags, io: Io): Promise<void> {
  const { json, config, write = false, draft, quiet } = flags;
  const { client } = await connect(io, flags);
  if (write) await confirmWriting(client.products.baseUrl, flags, io);

  const learned: CollectionFindings[] = [];
  const report = await probe(client, {
    collections: names.length > 0 ? names : undefined,
    write: write && { draft },
    signal: io.signal,
    onLeftBehind: (ids) => io.log(leftBehindText(ids)),
    onCollection: (findings) => void learned.push(findings),
    ...(quiet ? {} : progress(io)),
  }).catch((error: unknown) => {
    io.status?.(undefined);
    // The findings so far are for people: a program could take half a report for a whole one.
    if (io.signal.aborted && !json && !config) print(partialLines(learned, io.columns), io);
    throw error;
  });
  io.status?.(undefined);
  if (json) io.out(JSON.stringify(report, undefined, 2));
  else if (config) print(configurationLines(report), io);
  else print(reportLines(report, io.columns), io);
  const { leftBehind } = report.writes;
  if (leftBehind.length === 0) return;
  throw new CommandFailure(leftBehindText(leftBehind), {
    advice: 'Delete them by hand.',
    exitCode: EXIT.service,
  });
}

const leftBehindText = (ids: readonly string[]) => `Products that could not be deleted: ${ids.join(', ')}.`;

function print(lines: readonly string[], io: Io): void {
  for (const line of lines) io.out(line);
}

async function confirmWriting(baseUrl: string, { yes }: Flags, io: Io): Promise<void> {
  if (yes) return;
  const question = `This creates one product at ${baseUrl}, updates it and deletes it. Continue?`;
  const agreed = await io.prompt?.confirm(question, io.signal);
  if (agreed) return;
  throw new CommandFailure('No request was sent.', {
    advice:
      agreed === undefined ? 'Pass --yes if there is no terminal to ask.' : 'Leave out --write to read only.',
    exitCode: EXIT.usage,
  });
}

function progress(io: Io): Pick<ProbeOptions, 'onPlan' | 'onProgress'> {
  let most = 0;
  return {
    onPlan({ requests, atMost, writes }) {
      most = atMost;
      const how = writes ? 'to read, and to create, update and delete one product' : 'to read only';
      io.log(`About ${requests} requests, at most ${atMost}, ${how}. Ctrl-C stops.`);
    },
    onProgress: ({ requests, collection, done, of }) =>
      io.status?.(
        `${requests} of at most ${most} requests: ${collection ?? 'writing'} (${done} of ${of} done)`,
      ),
  };
}
