/**
 * Reads a list with one client, and tells what this process has used: plain JavaScript, because stripping types costs more
 * than the start that is measured. With `slice` it reads so many records after each message, until its parent ends it;
 * otherwise all of them at once. With `--expose-gc` also the heap in use, which costs CPU time.
 */
import { pathToFileURL } from 'node:url';
import { getHeapStatistics } from 'node:v8';

const { client, origin, pageSize, warmUp, limit, slice, dist } = JSON.parse(process.argv[2]);
const apiKey = 'key-of-the-bench';
const headers = { 'x-auth-token': apiKey };
const products = `${origin}/api/public/v1/products`;

/** Calls `visit` for each record, page after page, until it returns false. It returns a promise to wait for before the next. */
const pages = (load) => async (visit) => {
  for (let page = 1; ; page += 1) {
    const records = await load(page);
    if (records.length === 0) return;
    for (const record of records) {
      const isWanted = visit(record);
      if (isWanted !== true && !(await isWanted)) return;
    }
  }
};
const each = (list) => async (visit) => {
  for await (const record of list()) {
    const isWanted = visit(record);
    if (isWanted !== true && !(await isWanted)) return;
  }
};

/** As users of each client read a list. */
const clients = {
  fetch: () => pages(async (page) => (await fetch(`${products}?_page=${page}`, { headers })).json()),
  async ky() {
    const { default: ky } = await import('ky');
    const loop = ky.create({ headers });
    return pages((page) => loop.get(products, { searchParams: { _page: page } }).json());
  },
  async ours(options = {}) {
    const { createClient } = await import(pathToFileURL(`${dist}/index.js`));
    const sdk = createClient({ baseUrl: origin, apiKey, ...options });
    return each(() => sdk.products.list());
  },
  'ours-by-page': () => clients.ours({ pagination: 'page' }),
  async notion() {
    const { Client, iteratePaginatedAPI } = await import('@notionhq/client');
    const notion = new Client({ auth: apiKey, baseUrl: origin });
    return each(() => iteratePaginatedAPI(notion.users.list, { page_size: pageSize }));
  },
  async stripe() {
    const { default: Stripe } = await import('stripe');
    const { hostname: host, port } = new URL(origin);
    const stripe = new Stripe(apiKey, { protocol: 'http', host, port, telemetry: false });
    return each(() => stripe.products.list({ limit: pageSize }));
  },
  async openai() {
    const { default: OpenAI } = await import('openai');
    const openai = new OpenAI({ apiKey, baseURL: `${origin}/v1` });
    return each(() => openai.files.list({ limit: pageSize }));
  },
};

const cpuUs = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

const read = await clients[client.replace(/^before/, 'ours')]();
const [importedAtMs, importUs] = [performance.now(), cpuUs()];
let warmed = 0;
if (warmUp > 0) await read(() => ++warmed < warmUp);

if (slice > 0) {
  const started = () => new Promise((resolve) => process.once('message', () => resolve(true)));
  let records = 0;
  let before = cpuUs();
  process.send(0);
  await started();
  await read(({ id }) => {
    if (id.length > 0) records += 1;
    if (records < slice) return true;
    // With what is done between two slices, such as the pages requested ahead.
    const now = cpuUs();
    process.send((now - before) / records);
    [before, records] = [now, 0];
    return started();
  });
  throw new Error('The list has ended.');
}

/** Records between two collections. No multiple of a page, so that they fall into all parts of one. */
const EVERY = 9_973;
const heaps = [];
let records = 0;
const before = cpuUs();
if (limit > 0) {
  await read(({ id }) => {
    if (id.length > 0) records += 1;
    if (records % EVERY === 1 && globalThis.gc !== undefined) {
      globalThis.gc();
      heaps.push(getHeapStatistics().used_heap_size / 2 ** 20);
    }
    return records < limit;
  });
  if (records !== limit) throw new Error(`${records} records instead of ${limit}`);
}
const used = { cpuUs: (cpuUs() - before) / records, rssMb: process.resourceUsage().maxRSS / 1024 };
const heapMb = heaps.toSorted((a, b) => a - b)[heaps.length >> 1];
const ended = { endedAtMs: performance.now(), endUs: cpuUs() };
console.log(JSON.stringify({ importedAtMs, importUs, ...ended, ...used, heapMb }));
process.exit();
