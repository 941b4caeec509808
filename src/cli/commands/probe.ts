import type { CollectionName } from '../../collections/index.ts';
import { type ProbeOptions, probe } from '../../tools/probe/probe.ts';
import type { CollectionFindings } from '../../tools/probe/report.ts';
import { collectionNameList } from '../collection-name.ts';
import { type AddCommand, CommandFailure } from '../command.ts';
import { type ConnectFlags, connect, connectable } from '../connect.ts';
import { EXIT } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { jsonObject } from '../json-object.ts';
import { configurationLines } from '../probe/configuration-text.ts';
import { partialLines, reportLines } from '../probe/report-text.ts';

interface Flags extends ConnectFlags {
  readonly json?: true;
  readonly config?: true;
  readonly write?: true;
  readonly draft?: Readonly<Record<string, unknown>>;
  readonly yes?: true;
}

/** `accounting-data-sdk probe`: what the contract does not show. */
export const addProbe: AddCommand = (program, io) => {
  connectable(
    program
      .command('probe')
      .description(
        'ask the service what its contract does not show: page size, order, filters, ids, budget, errors',
      )
      .argument('[collections...]', 'those to ask about; default: all', collectionNameList)
      .option('--json', 'the whole report as JSON, with what each finding rests on')
      .option('--config', 'only the lines of configuration that follow from it')
      .option('--write', 'also make a product, change it and delete it; asks before it does')
      .option('--draft <json>', 'with --write: fields of the product that the service asks for', jsonObject)
      .option('--yes', 'with --write: do not ask'),
    [
      'accounting-data-sdk probe',
      'accounting-data-sdk probe accounts products --json > service.json',
      'accounting-data-sdk probe --config',
      `accounting-data-sdk probe products --write --draft '{"productNumber":"PROBE-1"}'`,
    ],
  ).action((names: CollectionName[], flags: Flags) => run(names, flags, io));
};

async function run(names: readonly CollectionName[], flags: Flags, io: Io): Promise<void> {
  const client = await connect(io, flags);
  if (flags.write) await confirmWriting(client.products.baseUrl, flags, io);

  const learned: CollectionFindings[] = [];
  const report = await probe(client, {
    collections: names.length > 0 ? names : undefined,
    write: flags.write ? { draft: flags.draft } : false,
    signal: io.signal,
    onLeftBehind: (ids) => io.log(leftBehindText(ids)),
    onCollection: (findings) => void learned.push(findings),
    ...(flags.quiet ? {} : telling(io)),
  }).catch((error: unknown) => {
    io.status?.(undefined);
    // Stopped half-way: what it has learned until then was paid for.
    if (io.signal.aborted && learned.length > 0) show(flags, io, partialLines(learned, io.columns));
    throw error;
  });
  io.status?.(undefined);
  if (flags.json) io.out(JSON.stringify(report, undefined, 2));
  else if (flags.config) show({}, io, configurationLines(report.configuration, report.advice));
  else show(flags, io, reportLines(report, io.columns));
  if (report.writes.leftBehind.length === 0) return;
  throw new CommandFailure(leftBehindText(report.writes.leftBehind), {
    advice: 'Delete them by hand.',
    exitCode: EXIT.service,
  });
}

const leftBehindText = (ids: readonly string[]) => `Products that could not be deleted: ${ids.join(', ')}.`;

/** Half a report is for people, not for programs. */
function show({ json, config }: Flags, io: Io, lines: readonly string[]): void {
  if (json || config) return;
  for (const line of lines) io.out(line);
}

async function confirmWriting(baseUrl: string, { yes }: Flags, io: Io): Promise<void> {
  if (yes) return;
  const question = `This makes one product at ${baseUrl}, changes it and deletes it. Go on?`;
  const agreed = await io.prompt?.confirm(question, io.signal);
  if (agreed) return;
  throw new CommandFailure('Nothing was written, and nothing was asked.', {
    advice:
      agreed === undefined
        ? 'Give --yes where there is no terminal to ask.'
        : 'Leave --write out to only read.',
    exitCode: EXIT.usage,
  });
}

/** Says beforehand what is going to happen, then how far it is. */
function telling(io: Io): Pick<ProbeOptions, 'onPlan' | 'onProgress'> {
  let most = 0;
  return {
    onPlan({ requests, atMost, writes }) {
      most = atMost;
      const how = writes ? 'reading, and the life of one product' : 'only reading';
      io.log(`About ${requests} requests, at most ${atMost}; ${how}. Ctrl-C stops.`);
    },
    onProgress: ({ requests, collection, done, of }) =>
      io.status?.(
        `${requests} of at most ${most} requests: ${collection ?? 'writing'} (${done} of ${of} done)`,
      ),
  };
}
