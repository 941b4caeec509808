import { type CollectionName, collectionNames } from '../../collections/index.ts';
import type { SchemaChange } from '../../tools/discover/changes.ts';
import { type DiscoverProgress, type Discovery, discover } from '../../tools/discover/discover.ts';
import { isDiscovered, saySame } from '../../tools/discover/memory.ts';
import { isStrict } from '../../tools/discover/source.ts';
import { collectionNameList } from '../collection-name.ts';
import { type AddCommand, CommandFailure } from '../command.ts';
import { type ConnectFlags, connect, connectable } from '../connect.ts';
import { EXIT } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { readIfThere, replaceFile } from '../replace-file.ts';
import { wholeNumber } from '../values.ts';
import { checkWritable } from '../writable.ts';

interface Flags extends ConnectFlags {
  readonly out?: string;
  readonly sample: number;
  readonly strict?: true;
  readonly check?: true;
}

/** `accounting-data-sdk discover`: schemas of what the service sends. */
export const addDiscover: AddCommand = (program, io) => {
  connectable(
    program
      .command('discover')
      .description(
        'write schemas of the fields that the service sends: TypeScript for createClient({ schemas })',
      )
      .argument('[collections...]', 'those to sample; default: all', collectionNameList)
      .option(
        '--out <file>',
        'where to write; run again, it shows what has changed. Default: standard output',
      )
      .option('--sample <number>', 'records of each collection to look at', wholeNumber(1), 500)
      .option(
        '--strict',
        'schemas ask for what was seen: no null, no gap, no other form of amounts and dates',
      )
      .option('--check', 'write nothing; fail where the file no longer says what the service sends'),
    [
      'accounting-data-sdk discover --out src/schemas.ts',
      'accounting-data-sdk discover --out src/schemas.ts --check    # in CI: exit code 9 where something has changed',
      'accounting-data-sdk discover accounts boms --sample 2000 > schemas.ts',
    ],
  ).action((names: CollectionName[], flags: Flags) => run(names, flags, io));
};

async function run(names: readonly CollectionName[], flags: Flags, io: Io): Promise<void> {
  if (flags.out !== undefined && !flags.check) await checkWritable(flags.out);
  const previous = await previousRun(flags);
  const client = await connect(io, flags);
  const count = names.length > 0 ? names.length : collectionNames.length;
  if (!flags.quiet && !flags.check) {
    io.log(`About ${flags.sample} records of each of ${count} collections, only reading. Ctrl-C stops.`);
  }
  const discovery = await discover(client, {
    collections: names.length > 0 ? names : undefined,
    sample: flags.sample,
    strict: flags.strict ?? false,
    previous,
    signal: io.signal,
    onProgress: flags.quiet ? undefined : (progress) => io.status?.(progressText(progress)),
  });
  io.status?.(undefined);
  const { changes, source } = discovery;
  for (const change of changes) io.log(changeText(change));
  if (flags.check) return check(changes, flags);
  if (flags.out === undefined) return io.out(source.trimEnd());

  // Counts in comments differ from run to run: a file is only touched where it would say something else.
  const isSame =
    previous !== undefined && saySame(previous, source) && isStrict(previous) === isStrict(source);
  if (!isSame) await replaceFile(flags.out, source);
  if (!flags.quiet)
    io.log(summary(discovery, isSame ? `${flags.out} is up to date` : `${flags.out} is written`));
}

/** What stands in the file; a file that discover did not write is not to be lost to it. */
async function previousRun({ out, check: isCheck }: Flags): Promise<string | undefined> {
  if (out === undefined && isCheck) {
    throw new CommandFailure('There is nothing to check against.', {
      advice: 'Name the file with --out.',
      exitCode: EXIT.usage,
    });
  }
  const text = out === undefined ? undefined : await readIfThere(out);
  if (text === undefined && isCheck) {
    throw new CommandFailure(`There is no ${out} to check.`, {
      advice: 'Run the command once without --check, and keep the file.',
      exitCode: EXIT.file,
    });
  }
  if (text === undefined || text.trim() === '' || isDiscovered(text)) return text;
  throw new CommandFailure(`${out} was not written by discover.`, {
    advice: 'Choose another file, or delete this one.',
    exitCode: EXIT.file,
  });
}

function check(changes: readonly SchemaChange[], { out }: Flags): void {
  if (changes.length === 0) return;
  throw new CommandFailure(`${out} no longer says what the service sends (changes: ${changes.length}).`, {
    advice: `Run the command without --check, and look at what differs.`,
    exitCode: EXIT.changed,
  });
}

function changeText({ collection, field, change, from, to }: SchemaChange): string {
  const what = field === undefined ? collection : `${collection}.${field}`;
  const mark = { added: '+', gone: '-', widened: '~' }[change];
  if (change === 'widened') return `${mark} ${what}: was ${from}, is ${to}`;
  return `${mark} ${what}${to === undefined && from === undefined ? '' : `: ${to ?? from}`}`;
}

function summary({ collections, requests }: Discovery, end: string): string {
  const records = collections.reduce((sum, one) => sum + one.records, 0);
  const unreadable = collections
    .filter(({ access }) => access !== 'readable')
    .map(({ collection }) => collection);
  const not = unreadable.length === 0 ? '' : ` Not readable with this key: ${unreadable.join(', ')}.`;
  return `${records} records of ${collections.length - unreadable.length} collections in ${requests} requests: ${end}.${not}`;
}

function progressText({ requests, collection, done, of }: DiscoverProgress): string {
  return `${requests} requests: ${collection ?? 'looking ids up'} (${done} of ${of} sampled)`;
}
