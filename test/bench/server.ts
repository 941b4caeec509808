/** The service of the bench, in a process of its own: the same records, wrapped as each client expects them. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSandbox } from 'accounting-data-sdk/testing';

const [pageSize = 0, records = 0] = (process.argv[2] ?? '').split('/').map(Number);
const FIRST_ID = 1_000_000;
const LIMIT = 100_000_000;

/** Products of different content, each as JSON without its id. */
const contents = createSandbox({ records: { products: 100 } })
  .store.products.all()
  .map(({ id: _, ...fields }) => JSON.stringify(fields).slice(1));

/** The JSON array of a page of records, from one on and before another. */
function rows(from: number, end = records): string {
  const length = Math.max(0, Math.min(pageSize, end - from));
  const row = (_: unknown, index: number) =>
    `{"id":"${FIRST_ID + from + index}",${contents[(from + index) % contents.length]}`;
  return `[${Array.from({ length }, row)}]`;
}

/** Where the records after an id begin. */
const after = (id: string | null): number => (id === null ? 0 : Number(id) - FIRST_ID + 1);

function listOf({ pathname, searchParams: query }: URL): string {
  if (pathname === '/api/public/v1/products') {
    const from = after(query.get('id[gt]')) + (Number(query.get('_page') ?? 1) - 1) * pageSize;
    return rows(from, Math.min(records, after(query.get('id[lte]') ?? String(FIRST_ID + records - 1))));
  }
  const from = after(query.get('starting_after') ?? query.get('after') ?? query.get('start_cursor'));
  const isMore = from + pageSize < records;
  const head = `{"object":"list","url":"${pathname}","type":"user","has_more":${isMore}`;
  const next = isMore ? `"${FIRST_ID + from + pageSize - 1}"` : 'null';
  return `${head},"next_cursor":${next},"${pathname === '/v1/users' ? 'results' : 'data'}":${rows(from)}}`;
}

let left = LIMIT;
const server = createServer((request, response) => {
  const body = listOf(new URL(request.url ?? '/', 'http://service'));
  left -= 1;
  response.writeHead(200, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-RateLimit-Limit': LIMIT,
    'X-RateLimit-Remaining': left,
  });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());
