import type { Sandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { useVirtualClock } from '../../../support/virtual-clock.ts';
import { play, type Session, type Step } from '../support/session.ts';

useVirtualClock();

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

const USUAL_SESSIONS: Readonly<Record<string, Session>> = {
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
      'same.csv': 'productNumber,name\nD-1,One\nD-1,Two\nD-2,One\nD-2,Two\n',
    },
    service: { records: { products: 1 }, unknownFields: 'store' },
    stdin: ['{"productNumber":"Z1",', '"name":"Zip"}\n'],
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

/** Sessions with services and files that something is wrong with, with a terminal, and that are stopped. */
const OTHER_SESSIONS: Readonly<Record<string, Session>> = {
  'at a terminal': {
    service: { records: { accounts: 70, products: 3 }, rateLimit: { limit: 25 } },
    files: { 'p.csv': 'productNumber,name\nT-1,One\nT-2,Two\n' },
    typed: ['n', 'y'],
    columns: 60,
    steps: [
      'whoami',
      'pull accounts --out DIR/accounts.ndjson',
      'discover accounts boms --out DIR/schemas.mts',
      'push DIR/p.csv --key productNumber',
      'push DIR/p.csv --key productNumber',
      'push DIR/p.csv --key productNumber --quiet',
      'probe products --out DIR/service.json',
      'pull accounts products --all --out DIR/x',
      down,
      'pull accounts --out DIR/down.ndjson --max-outage 5s',
      up,
      'pull accounts --to DIR/books.sqlite',
    ],
  },
  'stopped by Ctrl-C': {
    service: { records: { accounts: 70, products: 70 } },
    files: { 'p.csv': 'productNumber,name\nS-1,One\nS-2,Two\n' },
    steps: [
      '^C1 whoami',
      '^C2 pull accounts --out DIR/accounts.ndjson',
      'pull accounts --out DIR/accounts.ndjson --quiet',
      '^C2 pull accounts --out DIR/accounts.ndjson',
      '^C2 pull accounts',
      '^C3 pull --all --out DIR/all',
      '^C11 pull --all --out DIR/all',
      '^C3 pull --all --to DIR/books.sqlite',
      'pull --all --to DIR/books.sqlite',
      '^C1 pull --all --to DIR/books.sqlite --verify',
      '^C2 discover accounts --out DIR/schemas.mts',
      '^C2 probe accounts --out DIR/service.mts',
      '^C8 probe products --write --yes',
      '^C1 push DIR/p.csv --key productNumber --yes',
      '^C4 push DIR/p.csv --key productNumber --yes',
      '^C2w push DIR/p.csv --key productNumber --yes --concurrency 1 --results DIR/results.ndjson',
      'push DIR/p.csv --key productNumber --yes',
      '^C0 get accounts 1',
      '^C0 sandbox --port 0 --seed 7 --records 10',
    ],
  },
  'settings in files': {
    files: {
      '.env': 'ACCOUNTING_BASE_URL=https://service.example\n',
      'own.env': 'ACCOUNTING_BASE_URL="https://service.example"\nACCOUNTING_API_KEY=wrong-key\nOTHER=x\n',
      'plain.env': 'ACCOUNTING_BASE_URL=http://service.example\nACCOUNTING_API_KEY=wrong-key\n',
      'empty.env': '',
      'cwd/.env': 'ACCOUNTING_BASE_URL=https://service.example\nACCOUNTING_API_KEY=wrong-key-2\n',
    },
    env: { ACCOUNTING_BASE_URL: undefined, ACCOUNTING_API_KEY: undefined },
    typed: ['', 'typed-key', ' KEY_OF_full '],
    steps: [
      'get accounts 1',
      'get accounts 1 --env DIR/own.env',
      'get accounts 1 --env DIR/.env',
      'get accounts 1 --env DIR/.env',
      'discover boms --env DIR/.env --out DIR/KEY_OF_full.mts',
      'get accounts 1 --env DIR/empty.env',
      'get accounts 1 --env DIR/plain.env',
      'get accounts 1 --env DIR/plain.env --allow-insecure',
      'get accounts 1 --env DIR/own.env --base-url https://service.example',
      'get accounts 1 --base-url https://service.example/api/public/v1/',
      'get accounts 1 --base-url nonsense',
    ],
  },
  'settings of the environment': {
    files: { 'own.env': 'ACCOUNTING_BASE_URL=https://service.example\nACCOUNTING_API_KEY=wrong-key\n' },
    service: { records: { accounts: 1 } },
    steps: [
      'get accounts 1 --env DIR/own.env',
      'get accounts 1',
      'get accounts 2',
      'get Account-Addresses 1',
      'get accounts .',
    ],
  },
  'pull of a service that differs': {
    service: {
      records: { accounts: 70, boms: 3 },
      ids: { form: 'uuid' },
      hiddenRecords: 0.2,
      seed: 5,
      moneyAsNumbers: true,
      order: 'updated-desc',
    },
    steps: [
      'pull accounts --out DIR/accounts.ndjson --max-outage 0',
      'pull accounts --out DIR/accounts.ndjson --pagination page',
      'pull accounts --out DIR/accounts.ndjson --pagination keyset',
      'pull accounts --out DIR/accounts.ndjson --pagination none',
      'pull accounts --out DIR/accounts.ndjson --pagination link',
      'pull boms --pagination page',
      'pull boms --out -',
      'pull boms --format csv --out -',
      'pull --all --out DIR/all',
      'pull --all --to DIR/books.sqlite',
      'pull --all --to DIR/books.sqlite --verify',
    ],
  },
  'pull of records that are invalid': {
    service: { unknownFields: 'store' },
    steps: [
      ({ store, faults }) => {
        for (const name of ['One', 'Two', 'Three', 'Four']) store.boms.insert({ name, note: 'x' });
        faults.add(
          {
            kind: 'rewrite',
            body: (text) =>
              text
                .replace('"name":"One"', '"name":"One","sum":1e400')
                .replace('"name":"Two"', '"name":"half \\ud83d of a pair"')
                .replace('"id":"3"', '"id":3.5')
                .replace('"name":"Four"', '"name":4'),
          },
          { collection: 'boms' },
        );
      },
      'pull boms',
      'pull boms --format csv',
      'pull boms --out DIR/boms.csv',
      'pull boms --to DIR/books.sqlite',
      'pull boms --to DIR/books.sqlite --json',
      'pull boms --to DIR/books.sqlite --verify',
      ({ faults }) => faults.clear(),
      'pull boms --to DIR/books.sqlite --full',
      'pull boms --to DIR/books.sqlite --verify --json',
    ],
  },
  'a copy of companies': {
    service: { records: { accounts: 12, boms: 2 } },
    files: {
      'schemas.json': '{}',
      'notes.txt': 'not a database, but a text that is long enough to look like one\n',
    },
    steps: [
      'pull accounts --to DIR/books.sqlite --tenant acme',
      'pull accounts --to DIR/books.sqlite --tenant other --quiet',
      'pull accounts --to DIR/books.sqlite',
      'pull accounts --to DIR/books.sqlite --tenant acme --schemas DIR/schemas.json',
      'pull accounts --to DIR/books.sqlite --tenant acme --schemas DIR/none.mts',
      'pull accounts --to DIR/notes.txt',
      'pull accounts --to postgres',
      'pull accounts --to postgres://user:secret@host/db',
      'pull accounts --to DIR/books.sqlite --verify --full',
      'pull --to DIR/books.sqlite --forget',
      'pull --to DIR/books.sqlite --forget --tenant acme',
      'pull --to DIR/books.sqlite --forget --tenant acme --yes',
      'pull accounts --to DIR/books.sqlite --verify',
      ({ store }) => void [...store.accounts.all()].map(({ id }) => store.accounts.delete(id)),
      'pull accounts --to DIR/books.sqlite --full',
      'pull accounts --to DIR/books.sqlite --full --max-candidates all',
      ({ faults }) => void faults.add({ kind: 'status', status: 500 }, { collection: 'boms' }),
      'pull boms --to DIR/books.sqlite --max-outage 0',
      'pull --all --to DIR/books.sqlite --max-outage 0',
    ],
  },
  'another key': {
    service: { records: { accounts: 12, products: 1 }, otherRecords: 20 },
    files: {
      'p.csv': 'productNumber,name\nK-1,One\n',
      ...Object.fromEntries(
        [
          ['own', 'readOnly'],
          ['other', 'otherCompany'],
          ['products', 'productsOnly'],
        ].map(([name, key]) => [
          `${name}.env`,
          `ACCOUNTING_BASE_URL=https://service.example\nACCOUNTING_API_KEY=KEY_OF_${key}\n`,
        ]),
      ),
    },
    steps: [
      'pull accounts --to DIR/books.sqlite',
      'pull accounts --to DIR/books.sqlite --env DIR/other.env',
      'pull accounts --to DIR/books.sqlite --env DIR/own.env --verify',
      'pull accounts --to DIR/books.sqlite --env DIR/own.env',
      'push DIR/p.csv --key productNumber --yes',
      'push DIR/p.csv --key productNumber --yes --env DIR/other.env',
      'push DIR/p.csv --key productNumber --yes --env DIR/other.env --same-company',
      'push DIR/p.csv --key productNumber --yes --env DIR/products.env --quiet',
      'push DIR/p.csv --key productNumber --yes --env DIR/own.env --quiet',
      'pull accounts --to DIR/books.sqlite --env DIR/other.env --same-company',
    ],
  },
  'files of other programs': {
    files: {
      'notes.mts': 'export const notes = 1;\n',
      'notes.json': '{"notes":1}\n',
      'lines.txt': 'x\n',
    },
    service: { records: { accounts: 3 } },
    steps: [
      'probe accounts --out DIR/notes.mts',
      'probe accounts --out DIR/notes.json',
      'probe accounts --out DIR/lines.txt',
      'probe accounts --check DIR/notes.mts',
      'probe accounts --check DIR/notes.json',
      'probe accounts --out DIR/notes.json --force --quiet',
      'probe accounts --check DIR/notes.json --quiet',
      'discover accounts --out DIR/lines.txt',
      'discover accounts --out DIR/notes.mts',
      'discover accounts --out DIR/notes.mts --force',
      'discover accounts --check DIR/notes.mts --json',
      'pull accounts --service DIR/notes.mts',
      'pull accounts --service DIR/none.mts',
      'pull accounts --out DIR/cwd',
      'pull --all --out DIR/lines.txt',
      'push DIR/cwd --key productNumber --yes',
      'push DIR/lines.txt --key productNumber --yes --results DIR/lines.txt',
    ],
  },
  'services that fail': {
    service: { records: { accounts: 3 } },
    steps: ['status 500', 'status 503', 'status 415', 'status 302', 'status 404'].flatMap((name): Step[] => [
      ({ faults }) => {
        faults.clear();
        faults.add({ kind: 'status', status: Number(name.slice(7)) });
      },
      'whoami',
      'get accounts 1',
      'pull accounts --max-outage 0',
      'discover accounts',
      'probe accounts',
    ]),
  },
  'the state of a push': {
    files: {
      'p.csv': 'productNumber,name\nK-1,One\nK-2,Two\n',
      'q.csv': 'productNumber,name\nK-1,Changed\nK-3,Three\n',
      'cwd/.gitignore': 'node_modules\n',
    },
    stdin: ['productNumber,name\nH-1,"', '<html>, in a name"\n'],
    service: { newRecords: { listedAfterMs: 20_000, foundAfterMs: 5_000 } },
    steps: [
      'push DIR/p.csv --key productNumber --yes --state DIR/state --tenant acme --quiet',
      'push DIR/q.csv --key productNumber --dry-run --state DIR/state --tenant acme --visible-after 10s --results DIR/dry.ndjson',
      'push DIR/q.csv --key productNumber --yes --state DIR/state --tenant acme --concurrency 1 --visible-after 1m --results DIR/results.ndjson',
      'push DIR/q.csv --key productNumber --yes --state DIR/p.csv',
      'push DIR/q.csv --key productNumber --yes --concurrency 0',
      'push - --key productNumber --yes --tenant html --state DIR/cwd',
      'push DIR/q.csv --key name --yes --no-repeat-creates --same-company --empty clear --format csv --delimiter ,',
    ],
  },
};

const SESSIONS = { ...USUAL_SESSIONS, ...OTHER_SESSIONS };

test.each(Object.keys(SESSIONS))('the command prints what is recorded: %s', async (name) => {
  const recorded = await play(SESSIONS[name] as Session);
  await expect(`${recorded}\n`).toMatchFileSnapshot(`./${name.replaceAll(' ', '-')}.txt`);
});
