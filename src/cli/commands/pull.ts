import type { CollectionName } from 'accounting-data-sdk';
import { type Command, Option } from 'commander';
import { candidates, collectionName, duration } from '../arguments.ts';
import { connectable } from '../connect.ts';
import { CommandFailure, EXIT } from '../errors.ts';
import type { CommandIo } from '../io.ts';
import { type DatabaseFlags, pullIntoDatabase } from '../pull/database.ts';
import { type FileFlags, pullIntoFiles } from '../pull/files.ts';

type Flags = FileFlags & Omit<DatabaseFlags, 'to'> & { readonly to?: string };

/** `accounting-data-sdk pull`: whole collections as NDJSON or CSV. */
export function addPull(program: Command, io: CommandIo): void {
  connectable(
    program
      .command('pull')
      .description('read a whole collection, or all of them: one record on each line')
      .argument('[collection]', 'such as accounts or account-addresses', collectionName)
      .option('--all', 'every collection that the key may read')
      .addOption(
        new Option('--pagination <kind>', 'default: that of --service, or keyset').choices([
          'keyset',
          'page',
          'none',
          'link',
        ]),
      )
      .addOption(
        new Option('--max-outage <time>', 'the longest to wait out: 90s, 5m, 0')
          .argParser(duration)
          .default(120_000, '2m'),
      )
      .optionsGroup('Files:')
      .option('-o, --out <file>', 'replaced at the end, - for standard output; with --all a folder')
      .addOption(
        new Option('--format <format>', 'default: by the ending of --out').choices(['ndjson', 'csv']),
      )
      .optionsGroup('A copy in a database:')
      .addOption(
        new Option('--to <database>', 'a file of SQLite, or "postgres"').conflicts(['out', 'format']),
      )
      .option('--tenant <label>', 'the company (default: the only one that is there)')
      .option('--schemas <file>', 'types of columns: a file that discover --out wrote')
      .option('--full', 'read everything again, and remove what was deleted')
      .option(
        '--max-candidates <number>',
        'the most to remove or look up, or all (default: 50 or a tenth)',
        candidates,
      )
      .option('--same-company', 'accept a copy of another key of the company')
      .option('--verify', 'compare the copy with the service, and write nothing')
      .option('--forget', 'remove the company of --tenant')
      .option('-y, --yes', 'with --forget: do not ask')
      .option('--json', 'print the report as JSON'),
    [
      'accounting-data-sdk pull accounts > accounts.ndjson',
      'accounting-data-sdk pull products --out products.csv',
      'accounting-data-sdk pull --all --out data',
      'accounting-data-sdk pull --all --to books.sqlite --tenant acme',
    ],
  ).action(async (name: CollectionName | undefined, flags: Flags) => {
    checkFlags(name, flags);
    const { to } = flags;
    if (to === undefined) await pullIntoFiles(name, flags, io);
    else await pullIntoDatabase(name, { ...flags, to }, io);
  });
}

/** Before anything is read or sent. */
function checkFlags(name: CollectionName | undefined, flags: Flags): void {
  const { all, out, to } = flags;
  const wrong = (message: string, advice: string) =>
    new CommandFailure(message, { advice, exitCode: EXIT.usage });
  if (all && name !== undefined) throw wrong('--all pulls every collection.', `Leave out ${name} or --all.`);
  if (!all && name === undefined && !flags.forget)
    throw wrong('No collection is named.', 'Name one, or pass --all.');
  // Not printed: it may contain a password.
  if (to?.includes('://')) {
    throw wrong('--to takes no address of a database.', 'Set DATABASE_URL, and pass --to postgres.');
  }
  const { verify, forget, full } = flags;
  if ([verify, forget, full].filter(Boolean).length > 1) {
    throw wrong('--verify, --forget and --full exclude each other.', 'Pass one of them.');
  }
  if (forget && (name !== undefined || flags.tenant === undefined)) {
    throw wrong('--forget removes a whole company.', 'Name it with --tenant, and no collection.');
  }
  if (to !== undefined) return;
  if (all && (out === undefined || out === '-')) throw wrong('--all needs a folder.', 'Name it with --out.');
}
