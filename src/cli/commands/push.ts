import { constants } from 'node:fs';
import { access, mkdir, realpath, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  type CompleteStore,
  isAccountingError,
  type PushAction,
  type PushProgress,
  type PushReport,
  type PushResult,
  productFields,
  push,
} from 'accounting-data-sdk';
import { fileStore } from 'accounting-data-sdk/node';
import type { productSchema } from 'accounting-data-sdk/schemas';
import { type Command, Option } from 'commander';
import { unlessMissing } from '../../internal/node/crash-safe-file.ts';
import { suggestion } from '../../internal/suggestion.ts';
import { oneLine } from '../../internal/text.ts';
import { customField, delimiter, duration, wholeNumber } from '../arguments.ts';
import { type ConnectFlags, connect, connectable } from '../connect.ts';
import { anotherKey, CommandFailure, EXIT, failureOf, isInterrupted, messageOf } from '../errors.ts';
import type { CommandIo } from '../io.ts';
import { noEffect } from '../needs.ts';
import { counted } from '../numbers.ts';
import { bar, Progress } from '../progress.ts';
import type { DecimalMark } from '../push/cells.ts';
import { mapOf } from '../push/columns.ts';
import { formatOf, type ProductFormat } from '../push/formats.ts';
import { type CustomFields, type EmptyCells, ProductFile } from '../push/product-file.ts';
import { RowResults, rowName } from '../push/row-results.ts';

interface Flags extends ConnectFlags {
  readonly key: string;
  readonly tenant?: string;
  readonly sameCompany?: true;
  readonly map?: readonly string[];
  readonly ignoreColumn?: readonly string[];
  readonly customField?: CustomFields;
  readonly delimiter?: string;
  readonly listSeparator?: string;
  readonly dryRun?: true;
  readonly yes?: true;
  readonly json?: true;
  readonly empty?: EmptyCells;
  readonly decimal?: DecimalMark;
  readonly format?: ProductFormat;
  readonly results?: string;
  readonly state?: string;
  readonly repeatCreates: boolean;
  readonly concurrency: number;
  readonly visibleAfter?: number;
  readonly maxOutage?: number;
}

/** `accounting-data-sdk push`: creates or updates the products of a file. */
export function addPush(program: Command, io: CommandIo): void {
  connectable(
    program
      .command('push')
      .description('create or update products from a CSV or NDJSON file, each once by its key')
      .argument('<file>', 'CSV or NDJSON; - for standard input')
      .requiredOption('--key <field>', 'required: the field that identifies a product')
      .option('--dry-run', 'show what would be written, and write nothing')
      .option('-y, --yes', 'write without asking')
      .option('--json', 'print the report as JSON')
      .option('--results <file>', 'write a line of JSON for each row to this file')
      .optionsGroup('File (* can be repeated):')
      .addOption(
        new Option('--format <format>', 'default: by the ending of its name').choices(['csv', 'ndjson']),
      )
      .addOption(
        new Option('--empty <meaning>', 'an empty cell (default: keeps the value)').choices([
          'ignore',
          'clear',
        ]),
      )
      .addOption(new Option('--decimal <mark>', 'of amounts and numbers').choices(['.', ',']))
      .option('--delimiter <mark>', 'between cells: one character, or tab', delimiter)
      .option('--list-separator <mark>', 'between the texts of a list (default: |)')
      .option('--map <column=field>', 'the field of a column: "SKU=productNumber" *', repeated)
      .option('--ignore-column <name>', 'leave out a column *', repeated)
      .option('--custom-field <name:kind>', 'a field that only your service has *', customField)
      .optionsGroup('State (ids and unknown creates, for later runs):')
      .option('--state <folder>', 'its folder (default: .accounting-data-sdk)')
      .option('--tenant <label>', 'a label of the company (default: default)')
      .option('--same-company', 'accept the state of another key of the company')
      .optionsGroup('Writes:')
      .option('--concurrency <number>', 'writes in flight', wholeNumber(1), 4)
      .option('--no-repeat-creates', 'look for a product before a repeat')
      .option('--visible-after <time>', 'until a new product shows: 2m (default: 30s)', duration)
      .option('--max-outage <time>', 'the longest to wait out: 5m (default: 2m)', duration),
    [
      'accounting-data-sdk push products.csv --key productNumber --dry-run',
      'accounting-data-sdk push products.ndjson --key ean -y --results log.ndjson',
    ],
  ).action((path: string, flags: Flags) => run(path, flags, io));
}

async function run(path: string, flags: Flags, io: CommandIo): Promise<void> {
  checkFormatFlags(path, flags);
  const map = mapOf(flags.map ?? []);
  const isAsked = flags.dryRun !== true && flags.yes !== true;
  checkFlags(flags, isAsked && (io.prompt === undefined || path === '-'));
  const rowsPath = path === '-' ? path : resolve(io.cwd ?? '.', path);
  const resultsPath = flags.results && resolve(io.cwd ?? '.', flags.results);
  await checkPaths(rowsPath, resultsPath);
  const file = new ProductFile(rowsPath, {
    ...flags,
    map,
    ignored: (flags.ignoreColumn ?? []).map((name) => name.trim()),
    customFields: flags.customField ?? {},
    stdin: io.stdin,
  });
  const schemas = await schemasOf(flags.customField);
  const { client, reading } = await connect(io, flags, { schemas });
  const { tenant = 'default' } = flags;
  const store = await stateIn(resolve(io.cwd ?? '.', flags.state ?? STATE_FOLDER), flags.dryRun === true);
  const isDryRun = flags.dryRun ?? false;
  const results = new RowResults(resultsPath);
  const progress = new Progress(io);
  const written = { created: 0, updated: 0 };
  const confirm = async (planned: Counts) => {
    io.status?.(undefined);
    if (!isAsked || planned.created + planned.updated === 0) return true;
    return (await io.prompt?.confirm(`${summary(planned, WILL)}; continue?`, io.signal)) ?? false;
  };
  try {
    const report = await push(client.products, {
      ...reading,
      tenant,
      rows: file.rows(),
      key: flags.key as 'productNumber',
      store,
      unknownFields: 'reject',
      sameCompany: flags.sameCompany,
      dryRun: isDryRun,
      concurrency: flags.concurrency,
      visibleAfterMs: flags.visibleAfter,
      maxOutageMs: flags.maxOutage,
      retry: flags.repeatCreates ? undefined : { creates: false },
      signal: io.signal,
      onResult: (result) => {
        const { index, key, action } = result;
        if (action === 'created' || action === 'updated') written[action] += 1;
        if (action === 'updated' && index !== undefined) file.noteChanged(index, key, clearable(result));
        results.add(result, {
          line: file.lineOf(index),
          firstLine: file.lineOf(result.firstIndex),
          badCells: file.problemsOf(index),
        });
      },
      onProgress: (now) => progress.show(progressText(now)),
      confirm,
    });
    if (flags.json) io.out(JSON.stringify(report, undefined, 2));
    end(report, { flags, io, results, file });
  } catch (error) {
    if (isInterrupted(io.signal)) {
      io.log(`Stopped before the end: ${written.created} created, ${written.updated} updated.`);
      io.log(RESUME);
    }
    throw withCause(error);
  } finally {
    results.close();
  }
}

/** The fields of an update that may have replaced a text: only a dry run knows what the product has. */
function clearable({ fields, changes }: PushResult): readonly string[] {
  if (changes.length === 0) return fields;
  return changes.flatMap(({ field, from }) => (typeof from === 'string' && from !== '' ? [field] : []));
}

/** A schema that names the custom fields, so that `push` does not warn of them. */
async function schemasOf(custom: CustomFields = {}): Promise<{ products?: typeof productSchema }> {
  const names = Object.keys(custom);
  if (names.length === 0) return {};
  const [schemas, { unknown }] = await Promise.all([import('accounting-data-sdk/schemas'), import('zod')]);
  const fields = Object.fromEntries(names.map((name) => [name, unknown().optional()]));
  return { products: schemas.productSchema.extend(fields) as unknown as typeof productSchema };
}

/** Where the state is kept without --state: in the current folder. */
const STATE_FOLDER = '.accounting-data-sdk';

/**
 * The state of a push. Its folder is created before anything is sent, unless nothing is to be written, with a .gitignore
 * that keeps all of it out of a repository.
 */
async function stateIn(folder: string, isDryRun: boolean): Promise<CompleteStore> {
  if (isDryRun) return fileStore(folder);
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK);
    await writeFile(join(folder, '.gitignore'), '*\n', { flag: 'wx' }).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      },
    );
  } catch (error) {
    throw new CommandFailure(`The state cannot be written to ${folder}: ${(error as Error).message}.`, {
      advice: 'Name a folder that can be written with --state.',
      exitCode: EXIT.usage,
    });
  }
  return fileStore(folder);
}

/** Before anything is read or sent. */
function checkFlags({ key, customField }: Flags, mustConfirm: boolean): void {
  const kinds: Readonly<Record<string, string>> = { ...productFields, ...customField };
  if (!Object.hasOwn(kinds, key) || kinds[key] !== 'string') {
    const names = Object.keys(kinds).filter((name) => kinds[name] === 'string');
    // Not quoted, because the caller may have passed the API key by mistake.
    throw new CommandFailure('The value of --key is not a text field of a product.', {
      advice: `${suggestion(key, names)} If its column has another name, pass --map COLUMN=FIELD too.`,
      exitCode: EXIT.usage,
    });
  }
  if (!mustConfirm) return;
  throw new CommandFailure('There is no terminal to confirm the push on.', {
    advice: 'Pass --yes to write, or --dry-run to see what would be written.',
    exitCode: EXIT.usage,
  });
}

/** The flags that say how the cells of CSV are written. */
const OF_CSV = { delimiter: '--delimiter', decimal: '--decimal', listSeparator: '--list-separator' } as const;

/** JSON says how its values are written. */
function checkFormatFlags(path: string, flags: Flags): void {
  if ((flags.format ?? formatOf(path)) === 'csv') return;
  for (const [name, flag] of Object.entries(OF_CSV)) {
    if (flags[name as keyof typeof OF_CSV] === undefined) continue;
    throw noEffect(`${flag} has no effect with NDJSON.`, `Leave out ${flag}.`);
  }
}

/** An option that is given once for each value. */
function repeated(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** The results would overwrite the rows before they are read. */
async function checkPaths(rows: string, results: string | undefined): Promise<void> {
  if (results === undefined) return;
  const [read, written] = await Promise.all([rows, results].map((path) => unlessMissing(realpath(path))));
  if (read === undefined || read !== written) return;
  throw new CommandFailure('--results names the file to push.', {
    advice: 'Give the results a file of their own.',
    exitCode: EXIT.usage,
  });
}

interface Ended {
  readonly flags: Flags;
  readonly io: CommandIo;
  readonly results: RowResults;
  readonly file: ProductFile;
}

function end({ rows, counts, dryRun, notStored }: PushReport, { flags, io, results, file }: Ended): void {
  io.log(`${counted(rows, 'row')}: ${summary(counts, dryRun ? WILL : DONE)}.`);
  for (const notice of file.notices) io.log(oneLine(notice));
  for (const { field, sent, returned, key, index, rows: count } of notStored) {
    const more = count > 1 ? ` (and ${counted(count - 1, 'more row')})` : '';
    const values = `sent ${short(sent)}, returned ${short(returned)}${more}`;
    const row = rowName(file.lineOf(index), key);
    io.log(oneLine(`Warning: ${field} was not stored as sent. ${row}: ${values}.`));
  }
  const bad = counts.failed + counts.conflict + counts.duplicate;
  const isDeclined = dryRun && !flags.dryRun;
  if (bad === 0 && !isDeclined) return;

  for (const problem of results.problems) io.log(problem);
  if (results.unprinted > 0) {
    const where = flags.results === undefined ? 'pass --results <file> to see them' : `see ${flags.results}`;
    io.log(`and ${counted(results.unprinted, 'row')} for other reasons; ${where}`);
  }
  if (isDeclined) {
    throw new CommandFailure('Nothing was written.', {
      advice: 'Pass --dry-run to see what would be written.',
      exitCode: EXIT.usage,
    });
  }
  throw new CommandFailure(
    `${bad} of ${counted(rows, 'row')} ${dryRun ? 'would not be' : bad === 1 ? 'was not' : 'were not'} written.`,
    {
      advice: 'Resolve the errors above, and run the same command again.',
      exitCode: EXIT.rowsFailed,
    },
  );
}

/** A value as JSON, cut if it is long. */
function short(value: unknown): string {
  const json = JSON.stringify(value);
  return json.length > 60 ? `${json.slice(0, 60)}…` : json;
}

type Counts = PushReport['counts'];

const ALWAYS: readonly PushAction[] = ['created', 'updated', 'unchanged'];
const DONE: Partial<Record<PushAction, string>> = { conflict: 'in conflict' };
const WILL: Partial<Record<PushAction, string>> = { ...DONE, created: 'to create', updated: 'to update' };

/** `37 to create, 12 to update, 451 unchanged`. */
function summary(counts: Counts, words: Partial<Record<PushAction, string>>): string {
  return Object.entries(counts)
    .filter(([action, count]) => count > 0 || ALWAYS.includes(action as PushAction))
    .map(([action, count]) => `${count} ${words[action as PushAction] ?? action}`)
    .join(', ');
}

function progressText({ phase, done, total, waiting }: PushProgress): string {
  const wait = waiting ? ', waiting' : '';
  if (phase === 'rows') return `${counted(done, 'row')} read${wait}`;
  return phase === 'read'
    ? `${counted(done, 'product')} read${wait}`
    : `${bar(done, total ?? 0)} ${done} of ${total} written${wait}`;
}

const RESUME = 'Completed writes are kept; run the same command again to continue.';

/** A push that stopped ends as its cause does: a rejected key has an exit code of its own. */
function withCause(error: unknown): unknown {
  if (isAccountingError(error, 'invalid_input') && error.argument === 'tenant') {
    return anotherKey('The state was written with another API key.');
  }
  if (!isAccountingError(error, 'push_failed')) return error;
  const { cause, report } = error;
  const failure = failureOf(cause);
  if (cause instanceof CommandFailure || failure === undefined) return cause;
  const { advice, exitCode } = failure;
  const stopped = new CommandFailure(messageOf(error), { advice, exitCode });
  const { created, updated } = report.counts;
  return created + updated > 0 ? stopped.withAdvice(RESUME) : stopped;
}
