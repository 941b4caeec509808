import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type CollectionName, collectionNames } from 'accounting-data-sdk';
import { type Discovery, discover } from 'accounting-data-sdk/explore';
import { type Command, Option } from 'commander';
import { replaceFile } from '../../internal/node/crash-safe-file.ts';
import { collectionNameList, wholeNumber } from '../arguments.ts';
import { type ConnectFlags, connect, connectable } from '../connect.ts';
import { CommandFailure, EXIT, isDenied, nothingReadable } from '../errors.ts';
import type { CommandIo } from '../io.ts';
import { counted } from '../numbers.ts';
import { bar } from '../progress.ts';
import { changedFrom, checkOverwriting, writableFile } from '../writable.ts';

interface Flags extends ConnectFlags {
  readonly out?: string;
  readonly sample: number;
  readonly strict?: true;
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
      .option(
        '--strict',
        'schemas require what was seen: no null, no missing field, no other form of amounts and dates',
      )
      .addOption(
        new Option('--check <file>', 'write nothing; fail if the service differs from that file').conflicts(
          'out',
        ),
      )
      .option('--json', 'print what was found as JSON instead')
      .option('--force', 'overwrite a file that was edited, or that discover did not write'),
    [
      'accounting-data-sdk discover --out src/schemas.mts',
      'accounting-data-sdk discover --check src/schemas.mts    # in CI',
      'accounting-data-sdk discover accounts boms --sample 2000 > schemas.mts',
    ],
  ).action((names: CollectionName[], flags: Flags) => run(names, flags, io));
}

async function run(names: readonly CollectionName[], flags: Flags, io: CommandIo): Promise<void> {
  const { out, check, sample, force } = flags;
  // First, because the messages about files hide the API key only once it is known.
  const { client } = await connect(io, flags);
  const previous = check === undefined ? '' : await readFile(check, 'utf8');
  if (out !== undefined) await checkOverwriting(out, { by: 'discover', force, reasonNot });
  const count = names.length > 0 ? names.length : collectionNames.length;
  io.note(
    `Reading at most about ${counted(sample, 'record')} of each of ${counted(count, 'collection')}. Ctrl-C stops.`,
  );
  const discovery = await discover(client, {
    collections: names.length > 0 ? names : undefined,
    sample,
    strict: flags.strict,
    signal: io.signal,
    onProgress: ({ requests, collection, done, of }) =>
      io.status?.(`${bar(done, of)} ${requests} requests: ${collection} (${done} of ${of} sampled)`),
  });
  checkAccess(discovery);
  io.status?.(undefined);
  if (flags.json) io.out(JSON.stringify(discovery, undefined, 2));
  const { source } = discovery;
  const file = `${hashLine(source)}\n${source}`;
  if (check !== undefined) {
    reportChanges(check, { previous, file, io });
    return io.note(`The service sends what ${check} says.`);
  }
  if (out === undefined) return flags.json ? undefined : io.out(file.trimEnd());
  await replaceFile(await writableFile(out), file);
  io.note(summary(discovery, out));
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

const HASH_LINE = /^\/\/ sha256 ([0-9a-f]{64}): .*\r?\n/;

/** The first line of a file: by it `discover` recognises a file that was not edited. */
function hashLine(source: string): string {
  return `// sha256 ${hash(source)}: discover overwrites this file only if it was not edited.`;
}

function hash(source: string): string {
  return createHash('sha256').update(bare(source)).digest('hex');
}

/** Without what a formatter may change: white space, commas, semicolons, and which quotes are used. */
function bare(source: string): string {
  return source.replaceAll(/[\s,;\\]/g, '').replaceAll('"', "'");
}

function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
}

/** Why a file must not be overwritten. */
function reasonNot(text: string): string | undefined {
  const [line, written] = HASH_LINE.exec(text) ?? [];
  if (line === undefined) return 'it did not write that file';
  return written === hash(text.slice(line.length)) ? undefined : 'the file was edited';
}

/** Compares the code alone: comments count records, which change with every run, and projects format their files. */
function reportChanges(
  checked: string,
  { previous, file, io }: { previous: string; file: string; io: CommandIo },
): void {
  const [before, now] = [withoutComments(previous), withoutComments(file)];
  if (bare(before) === bare(now)) return;
  for (const line of linesMissingIn(bare(now), before)) io.log(`- ${line}`);
  for (const line of linesMissingIn(bare(before), now)) io.log(`+ ${line}`);
  throw changedFrom(checked, 'discover');
}

/** The lines of a file that another does not have. A match in a longer name or a longer chain of calls does not count. */
function linesMissingIn(other: string, code: string): string[] {
  const lines = code.split('\n').map((line) => line.trim());
  return lines.filter((line) => {
    const text = bare(line).replaceAll(/\W/g, '\\$&');
    return !new RegExp(`(?<!\\w(?=\\w))${text}${/[,;]$/.test(line) ? '(?!\\.)' : ''}`).test(other);
  });
}

function summary({ collections, requests }: Discovery, out: string): string {
  const records = collections.reduce((sum, one) => sum + one.records, 0);
  const unreadable = collections.filter(({ access }) => access !== 'readable');
  const names = unreadable.map(({ collection }) => collection).join(', ');
  const not = names && ` This key may not read ${names}.`;
  return `Wrote ${out} from ${counted(records, 'record')} of ${counted(collections.length - unreadable.length, 'collection')} (${counted(requests, 'request')}).${not}`;
}
