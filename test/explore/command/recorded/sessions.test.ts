import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, extname } from 'node:path';
import type { Sandbox, SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { startVirtualClock, useVirtualClock } from '../../../support/virtual-clock.ts';
import { withoutChance } from '../../../support/without-chance.ts';
import { folder, openSandbox, run } from '../support/run.ts';

useVirtualClock();

/** A command line, or what happens before the next one. `DIR` is the folder of the session. */
type Step = string | ((sandbox: Sandbox) => void);

interface Session {
  readonly service?: SandboxOptions;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly files?: Readonly<Record<string, string>>;
  /** What is typed at each prompt. */
  readonly typed?: readonly string[];
  readonly stdin?: string;
  readonly steps: readonly Step[];
}

const PRODUCTS = `productNumber;name;salePrice;tags
DESK-140;Desk 140;125,00;a|b
DESK-160;Desk 160;129,00;
LAMP-2;Lamp;1.039,50;
LAMP-2;Lamp again;5,00;
;No number;1,00;
`;

const NDJSON = `{"productNumber":"A1","name":"Anvil","salePrice":"10.00"}
{"productNumber":"A2","name":"Axe","salePrice":10}
{"productNumber":"A3"
{"productNumber":"A4","nothing":true}
`;

const down = ({ faults }: Sandbox) => void faults.add({ kind: 'connection-refused' });
const up = ({ faults }: Sandbox) => faults.clear();

const SESSIONS: Readonly<Record<string, Session>> = {
  'help of each command': {
    steps: [
      ...['', 'whoami', 'probe', 'discover', 'pull', 'get', 'push', 'sandbox'].map((name) =>
        `${name} --help`.trim(),
      ),
      '--version',
    ],
  },
  'wrong arguments': {
    steps: [
      ...[
        'nothing',
        'get accounts',
        'get nothing 1',
        'pull',
        'pull nothing',
        'pull accounts --all',
        'pull --all',
      ],
      ...['pull accounts --format xml', 'pull accounts --pagination none --max-outage soon', 'whoami --jsn'],
      ...[
        'pull --to DIR/a.sqlite --out DIR/x',
        'pull --verify',
        'pull --to DIR/a.sqlite --forget --full',
        'probe nothing',
      ],
      ...[
        'push',
        'push DIR/none.csv --key productNumber',
        'push DIR/none.csv',
        'discover --sample x',
        'probe --draft {}',
      ],
      ...[
        'probe --force',
        'push DIR/a.ndjson --key productNumber --decimal ,',
        'sandbox --port x',
        'sandbox --fault x',
      ],
      ...[
        'whoami --api-key secret',
        'discover --check DIR/none.mts',
        'probe --check DIR/none.mts',
        'sandbox --options {"x":1}',
      ],
    ],
    files: { 'a.ndjson': NDJSON },
  },
  'no address and no key': {
    env: { ACCOUNTING_BASE_URL: undefined, ACCOUNTING_API_KEY: undefined },
    steps: [
      'whoami',
      'pull accounts',
      'whoami --base-url https://books.example',
      'whoami --env DIR/none.env',
    ],
  },
  'a wrong key': {
    env: { ACCOUNTING_API_KEY: 'wrong-key' },
    steps: ['whoami', 'get accounts 1', 'pull accounts', 'probe'],
  },
  'a key without rights': {
    steps: ['whoami', 'whoami --json', 'pull --all --out DIR/all', 'pull products', 'discover products'],
    service: { records: 20 },
    env: { ACCOUNTING_API_KEY: 'forbidden' },
  },
  'one record': {
    service: { records: { products: 2 } },
    steps: ['get products 1', 'get products 9', 'get accounts 1', 'get products 1 --quiet'],
  },
  'who am I': { service: { records: 26 }, steps: ['whoami', 'whoami --json', 'whoami --quiet'] },
  probe: {
    service: { records: { accounts: 70, products: 40 } },
    steps: [
      'probe accounts products',
      'probe accounts products --out DIR/service.mts',
      'probe accounts products --out DIR/service.mts',
      'probe accounts products --check DIR/service.mts',
      ({ reset }) => reset({ pageSize: 50, order: 'id-desc' }),
      'probe accounts products --check DIR/service.mts',
      'probe accounts products --out DIR/service.json --quiet',
      'pull accounts --service DIR/service.mts --out DIR/a.ndjson',
    ],
  },
  'probe of a service that differs': {
    service: {
      records: { accounts: 70, products: 40 },
      pageParameter: 'page',
      pageSizeParameter: 'itemsPerPage',
      timestamps: 'offset',
      timeZone: 'Europe/Amsterdam',
      filters: { id: 'ignore' },
      listBody: 'member',
      relations: 'iri',
    },
    steps: [
      'probe',
      'probe --json accounts',
      'probe --out DIR/service.mts --quiet',
      'pull accounts --service DIR/service.mts',
    ],
  },
  'probe with writes': {
    service: {
      records: { products: 3 },
      idempotency: { replay: 'ignored' },
      requiredFields: ['name', 'brand'],
    },
    typed: ['n', 'y'],
    steps: [
      'probe products --write',
      'probe products --write',
      'probe products --write --yes --draft {"name":"X","brand":"Y"}',
    ],
  },
  discover: {
    service: { records: { accounts: 5, products: 5, bomLines: 3 }, unknownFields: 'store' },
    steps: [
      ({ store }) =>
        void store.accounts.insert({
          colour: 'red',
          rate: '1.50',
          since: '2026-01-01',
          sizes: [1],
        }),
      'discover accounts bomLines',
      'discover accounts --json',
      'discover accounts --out DIR/schemas.mts',
      'discover accounts --check DIR/schemas.mts',
      ({ store }) => void store.accounts.insert({ colour: 7, depth: null }),
      'discover accounts --check DIR/schemas.mts',
      'discover accounts --out DIR/schemas.mts --sample 3 --quiet',
    ],
  },
  pull: {
    service: { records: { accounts: 35, products: 3 } },
    steps: [
      'pull accountAddresses',
      'pull products --format csv',
      'pull accounts --out DIR/accounts.ndjson',
      'pull accounts --out DIR/accounts.csv --json --pagination page',
      'pull --all --out DIR/all',
      'pull --all --out DIR/all --format csv --quiet',
      'pull accounts --out DIR/none/accounts.ndjson',
      down,
      'pull accounts --out DIR/accounts.ndjson --max-outage 5s',
      up,
      ({ faults }) => void faults.next({ kind: 'status', status: 500, body: '<h1>Oops</h1>' }),
      'pull accounts --out DIR/accounts.ndjson',
    ],
  },
  'pull into a database': {
    service: { records: { accounts: 35, products: 3 } },
    typed: ['n', 'y'],
    steps: [
      'pull --all --to DIR/books.sqlite',
      'pull --all --to DIR/books.sqlite',
      ({ store }) => {
        store.accounts.delete('3');
        store.accounts.update('4', { name: 'Changed' });
        store.accounts.insert({ name: 'New' });
      },
      'pull --all --to DIR/books.sqlite --verify',
      'pull --all --to DIR/books.sqlite --full --json',
      'pull --all --to DIR/books.sqlite --verify',
      'pull accounts --to DIR/books.sqlite --full --max-candidates 0',
      'pull --all --to DIR/books.sqlite --tenant acme',
      'pull --all --to DIR/books.sqlite',
      'pull --to DIR/books.sqlite --tenant none --forget',
      'pull --to DIR/books.sqlite --tenant acme --forget',
      'pull --to DIR/books.sqlite --tenant acme --forget',
    ],
  },
  'push of a CSV file': {
    files: { 'products.csv': PRODUCTS },
    typed: ['n', 'y'],
    service: { records: { products: 1 } },
    steps: [
      'push DIR/products.csv --key productNumber',
      'push DIR/products.csv --key productNumber --decimal , --dry-run',
      'push DIR/products.csv --key productNumber --decimal ,',
      'push DIR/products.csv --key productNumber --decimal ,',
      'push DIR/products.csv --key productNumber --decimal , --yes --json --results DIR/results.ndjson',
      'push DIR/products.csv --key name --decimal , --yes',
      'push DIR/products.csv --key nothing --yes',
      'push DIR/products.csv --key productNumber --map productNumber=articleCode --ignore-column tags --decimal , --dry-run',
    ],
  },
  'push of other files': {
    files: {
      'a.ndjson': NDJSON,
      'codes.csv': 'productNumber,name,colour\n"=""0012""",Bolt,red\n\'0013,Nut,\n',
      'empty.csv': '',
      'shop.csv': 'Variant SKU,Title,Handle\nS-1,Sock,sock\n',
      'same.csv': 'productNumber,name\nD-1,One\nD-1,Two\n',
    },
    service: { records: { products: 1 }, unknownFields: 'store' },
    stdin: '{"productNumber":"Z1","name":"Zip"}\n',
    steps: [
      'push DIR/a.ndjson --key productNumber --yes',
      'push DIR/codes.csv --key productNumber --yes',
      'push DIR/codes.csv --key productNumber --yes --custom-field colour:text',
      'push DIR/empty.csv --key productNumber --yes',
      'push DIR/shop.csv --key productNumber --yes',
      'push DIR/shop.csv --key productNumber --map --yes',
      'push DIR/same.csv --key productNumber --yes',
      'push - --key productNumber --format ndjson --yes',
    ],
  },
  'push to a service that fails': {
    files: { 'p.csv': 'productNumber,name,status\nF-1,One,x\nF-2,Two,x\nF-3,Three,y\n' },
    service: { allowedStatuses: ['x'], unknownFields: 'reject' },
    steps: [
      ({ faults }) =>
        void faults.add({ kind: 'lost-response', committed: true }, { method: 'POST', times: 1 }),
      'push DIR/p.csv --key productNumber --yes --json',
      down,
      'push DIR/p.csv --key productNumber --yes --max-outage 5s',
      up,
      ({ faults }) => void faults.add({ kind: 'status', status: 403 }, { method: 'POST' }),
      'push DIR/p.csv --key productNumber --yes --no-repeat-creates',
    ],
  },
};

type Terminal = NonNullable<Parameters<typeof run>[2]>['prompt'];

/** A terminal at which this is typed. */
function promptOf(typed: string[], lines: string[]): Terminal {
  const next = async (question: string) => {
    const line = typed.shift() ?? '';
    lines.push(`  ? ${question} ${line}`);
    return line;
  };
  return { secret: next, confirm: async (question) => (await next(question)) === 'y' };
}

async function play({ service, env, files = {}, typed = [], stdin, steps }: Session): Promise<string> {
  startVirtualClock(1);
  const opened = openSandbox({
    clock: { now: () => Date.now() },
    origin: 'https://service.example',
    ...service,
  });
  const { sandbox } = opened;
  const settings = { ...opened.env, ...env };
  if (settings.ACCOUNTING_API_KEY === 'forbidden') settings.ACCOUNTING_API_KEY = sandbox.keys.forbidden;
  const inFolder = folder();
  const directory = dirname(inFolder('x'));
  for (const [name, text] of Object.entries(files)) writeFileSync(inFolder(name), text);
  const cwd = inFolder('cwd');
  mkdirSync(cwd);
  const before = new Map<string, string>(Object.entries(files));
  const answers = [...typed];
  const lines: string[] = [];
  for (const step of steps) {
    if (typeof step !== 'string') {
      step(sandbox);
      continue;
    }
    const args = step.split(' ').map((arg) => arg.replaceAll('DIR', directory));
    lines.push(`$ ${step}`);
    const { code, out, log } = await run(settings, step === '' ? [] : args, {
      cwd,
      columns: 80,
      ...(typed.length > 0 && { prompt: promptOf(answers, lines) }),
      ...(stdin !== undefined && {
        stdin: (async function* () {
          yield Buffer.from(stdin);
        })(),
      }),
    });
    lines.push(
      ...log
        .split('\n')
        .slice(0, -1)
        .map((line) => `  ! ${line}`),
    );
    lines.push(
      ...out
        .split('\n')
        .slice(0, -1)
        .map((line) => `  ${line}`),
    );
    lines.push(`  = ${code}`);
    for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' }).toSorted()) {
      const isText = ['.ndjson', '.csv', '.mts', '.json', '.ts'].includes(extname(name));
      const content = isText ? readFileSync(inFolder(name), 'utf8') : '';
      if (before.get(name) === content) continue;
      before.set(name, content);
      lines.push(
        `  > ${name}`,
        ...content
          .split('\n')
          .filter(Boolean)
          .map((line) => `    ${line}`),
      );
    }
    for (const name of before.keys())
      if (!existsSync(inFolder(name)) && before.delete(name)) lines.push(`  > ${name} is gone`);
  }
  return withoutChance(lines.join('\n')).replaceAll(directory, 'DIR');
}

test.each(Object.keys(SESSIONS))('the command prints what is recorded: %s', async (name) => {
  const recorded = await play(SESSIONS[name] as Session);
  await expect(`${recorded}\n`).toMatchFileSnapshot(`./${name.replaceAll(' ', '-')}.txt`);
});
