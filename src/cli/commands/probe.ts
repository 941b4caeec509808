import type { CollectionName } from 'accounting-data-sdk';
import { type ProbeOptions, type ProbeReport, probe } from 'accounting-data-sdk/explore';
import { type Command, Option } from 'commander';
import { replaceFile } from '../../internal/node/crash-safe-file.ts';
import { collectionNameList, jsonObject } from '../arguments.ts';
import { type ConnectFlags, connect, connectable } from '../connect.ts';
import { CommandFailure, EXIT, nothingReadable } from '../errors.ts';
import type { CommandIo } from '../io.ts';
import { reportLines } from '../probe-report.ts';
import { bar } from '../progress.ts';
import {
  checkServiceName,
  differences,
  isServiceFile,
  readServiceFile,
  serviceFile,
} from '../service-file.ts';
import { changedFrom, checkOverwriting, writableFile } from '../writable.ts';

interface Flags extends ConnectFlags {
  readonly json?: true;
  readonly out?: string;
  readonly check?: string;
  readonly force?: true;
  readonly write?: true;
  readonly draft?: Readonly<Record<string, unknown>>;
  readonly yes?: true;
}

/** `accounting-data-sdk probe`: what the API documentation leaves open. */
export function addProbe(program: Command, io: CommandIo): void {
  connectable(
    program
      .command('probe')
      .description(
        'find out what the API documentation leaves open: page size, order, filters, ids, quota, errors',
      )
      .argument('[collections...]', 'the collections to read (default: all)', collectionNameList)
      .option('--json', 'the whole report as JSON, with the evidence for each finding')
      .optionsGroup('File:')
      .option(
        '-o, --out <file>',
        'write the options that fit the service: TypeScript, or JSON for a name in .json',
      )
      .addOption(
        new Option('--check <file>', 'write nothing; fail if the service differs from that file').conflicts(
          'out',
        ),
      )
      .option('--force', 'with --out: overwrite a file that probe did not write')
      .optionsGroup('Writes:')
      .option('--write', 'also create, update and delete a product; asks first')
      .option('--draft <json>', 'fields of the product that the service requires', jsonObject)
      .option('-y, --yes', 'do not ask'),
    [
      'accounting-data-sdk probe',
      'accounting-data-sdk probe accounts products --json > report.json',
      'accounting-data-sdk probe --out src/service.mts',
      'accounting-data-sdk probe --check src/service.mts    # in CI',
      `accounting-data-sdk probe --write --draft '{"productNumber":"PROBE-1"}'`,
    ],
  ).action((names: CollectionName[], flags: Flags) => run(names, flags, io));
}

async function run(names: readonly CollectionName[], flags: Flags, io: CommandIo): Promise<void> {
  const { json, out, check, write = false, draft, force } = flags;
  const before = check === undefined ? undefined : await readServiceFile(check);
  if (out !== undefined) {
    checkServiceName(out);
    await checkOverwriting(out, { by: 'probe', force, isOwn: isServiceFile });
  }
  const { client } = await connect(io, flags);
  if (write) await confirmWriting(client.products.baseUrl, flags, io);

  const report = await probe(client, {
    collections: names.length > 0 ? names : undefined,
    write: write && { draft },
    signal: io.signal,
    onLeftBehind: (ids) => io.log(leftBehindText(ids)),
    ...progress(io),
  });
  const isRead = report.collections.some(({ access }) => access === 'readable');
  io.status?.(undefined);
  if (json) io.out(JSON.stringify(report, undefined, 2));
  else if (check === undefined) for (const line of reportLines(report, io.columns)) io.out(line);
  if (out !== undefined && isRead) await writeService(report, out, io);
  const { leftBehind } = report.writes;
  if (leftBehind.length > 0) {
    throw new CommandFailure(leftBehindText(leftBehind), {
      advice: 'Delete them by hand.',
      exitCode: EXIT.service,
    });
  }
  const access = report.collections.map((collection) => collection.access);
  if (!isRead) throw nothingReadable(access);
  if (before === undefined || check === undefined) return;
  const lines = differences(before, report);
  for (const line of lines) io.log(line);
  if (lines.length > 0) throw changedFrom(check, 'probe');
  io.note(`The service behaves as ${check} says.`);
}

async function writeService(report: ProbeReport, out: string, io: CommandIo): Promise<void> {
  await replaceFile(await writableFile(out), serviceFile(report, out));
  io.note(`Wrote ${out} (${report.requests} requests).`);
}

const leftBehindText = (ids: readonly string[]) => `Products that could not be deleted: ${ids.join(', ')}.`;

async function confirmWriting(baseUrl: string, { yes }: Flags, io: CommandIo): Promise<void> {
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

function progress(io: CommandIo): Pick<ProbeOptions, 'onPlan' | 'onProgress'> {
  let most = 0;
  return {
    onPlan({ atMost, writes }) {
      most = atMost;
      const how = writes ? 'to read, and to create, update and delete one product' : 'to read only';
      io.note(`At most ${atMost} requests, ${how}. Ctrl-C stops.`);
    },
    onProgress: ({ requests, collection, done, of }) =>
      io.status?.(
        `${bar(done, of)} ${requests} of at most ${most} requests: ${collection ?? 'writing'} (${done} of ${of} done)`,
      ),
  };
}
