import { type CollectionName, collectionNames } from 'accounting-data-sdk';
import { type Discovery, discover } from 'accounting-data-sdk/explore';
import { type Command, Option } from 'commander';
import { replaceFile } from '../../internal/node/crash-safe-file.ts';
import { collectionNameList, wholeNumber } from '../arguments.ts';
import { type ConnectFlags, connect, connectable } from '../connect.ts';
import { CommandFailure, EXIT, isDenied, nothingReadable } from '../errors.ts';
import { readFileOf } from '../import-file.ts';
import type { CommandIo } from '../io.ts';
import { counted } from '../numbers.ts';
import { bar } from '../progress.ts';
import { changedFrom, checkOverwriting, writableFile } from '../writable.ts';

interface Flags extends ConnectFlags {
  readonly out?: string;
  readonly sample: number;
  readonly check?: string;
  readonly json?: true;
  readonly force?: true;
}

/** `accounting-data-sdk discover`: schemas of what the service sends. */
export function addDiscover(program: Command, io: CommandIo): void {
  connectable(
    program
      .command('discover')
      .description(
        'write schemas of the fields that the service sends: TypeScript for createClient({ schemas })',
      )
      .argument('[collections...]', 'the collections to sample (default: all)', collectionNameList)
      .option('-o, --out <file>', 'the file to write (default: standard output)')
      .option('--sample <number>', 'records of each collection to read', wholeNumber(1), 500)
      .addOption(
        new Option('--check <file>', 'write nothing; fail if the service differs from that file').conflicts(
          'out',
        ),
      )
      .option('--json', 'print what was found as JSON instead')
      .option('--force', 'overwrite a file that discover did not write'),
    [
      'accounting-data-sdk discover --out src/schemas.mts',
      'accounting-data-sdk discover --check src/schemas.mts    # in CI',
      'accounting-data-sdk discover accounts boms --sample 2000 > schemas.mts',
    ],
  ).action((names: CollectionName[], flags: Flags) => run(names, flags, io));
}

async function run(names: readonly CollectionName[], flags: Flags, io: CommandIo): Promise<void> {
  const { out, check, sample, force } = flags;
  if (out !== undefined) checkName(out);
  // First, because the messages about files hide the API key only once it is known.
  const { client } = await connect(io, flags);
  const previous = check === undefined ? '' : await readFileOf('discover', check);
  if (out !== undefined) await checkOverwriting(out, { by: 'discover', force, isOwn });
  const count = names.length > 0 ? names.length : collectionNames.length;
  io.note(
    `Reading at most about ${counted(sample, 'record')} of each of ${counted(count, 'collection')}. Ctrl-C stops.`,
  );
  const discovery = await discover(client, {
    collections: names.length > 0 ? names : undefined,
    sample,
    signal: io.signal,
    onProgress: ({ requests, collection, done, of }) =>
      io.status?.(`${bar(done, of)} ${requests} requests: ${collection} (${done} of ${of} sampled)`),
  });
  checkAccess(discovery);
  io.status?.(undefined);
  if (flags.json) io.out(JSON.stringify(discovery, undefined, 2));
  const { source } = discovery;
  if (check !== undefined) {
    if (bare(previous) !== bare(source)) throw changedFrom(check, 'discover');
    return io.note(`The service sends what ${check} says.`);
  }
  if (out === undefined) return flags.json ? undefined : io.out(source.trimEnd());
  await replaceFile(await writableFile(out), source);
  io.note(summary(discovery, out));
}

/** The file is TypeScript, whatever its name. */
function checkName(file: string): void {
  if (/\.[cm]?ts$/i.test(file)) return;
  throw new CommandFailure(`discover writes TypeScript, and ${file} has another ending.`, {
    advice: 'Name a file in .mts or .ts. For JSON, pass --json without --out and redirect the output.',
    exitCode: EXIT.usage,
  });
}

/** Without a collection that failed, the file would lose its schema; CI would report that as a difference. */
function checkAccess({ collections }: Discovery): void {
  const codes = collections.map(({ access }) => access);
  if (codes.every((code) => isDenied(code) || code === 'not_found')) throw nothingReadable(codes);
  const failed = collections.find(({ access }) => access !== 'readable' && !isDenied(access));
  if (failed === undefined) return;
  throw new CommandFailure(`${failed.collection} cannot be read (${failed.access}).`, {
    advice: 'Nothing was written. Try again later, or name the other collections.',
    exitCode: EXIT.service,
  });
}

/**
 * The code alone, without what a formatter may change: white space, commas, semicolons, and which quotes are used.
 * Comments count records, which change with every run.
 */
function bare(source: string): string {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  return code.replaceAll(/[\s,;\\]/g, '').replaceAll('"', "'");
}

const isOwn = (text: string) => /^\/\/ Generated by accounting-data-sdk discover/m.test(text);

function summary({ collections, requests }: Discovery, out: string): string {
  const records = collections.reduce((sum, one) => sum + one.records, 0);
  const unreadable = collections.filter(({ access }) => access !== 'readable');
  const names = unreadable.map(({ collection }) => collection).join(', ');
  const not = names && ` This key may not read ${names}.`;
  return `Wrote ${out} from ${counted(records, 'record')} of ${counted(collections.length - unreadable.length, 'collection')} (${counted(requests, 'request')}).${not}`;
}
