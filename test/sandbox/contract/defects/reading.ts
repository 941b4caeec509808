import { type Defect, eachRecord, misread, missay, type Passing } from './defect.ts';

const single = ({ url, method }: Passing) => method === 'GET' && url.pathname.split('/').length === 6;
const listed = ({ url, method }: Passing) => method === 'GET' && url.pathname.split('/').length === 5;

/** Gives a parameter another name. */
function rename({ url }: Passing, from: string, to: string): void {
  const value = url.searchParams.get(from);
  url.searchParams.delete(from);
  if (value !== null) url.searchParams.set(to, value);
}

function changeSince({ url }: Passing, change: (since: string) => string): void {
  const since = url.searchParams.get('updatedSince');
  if (since !== null) url.searchParams.set('updatedSince', change(since));
}

const filters: readonly Defect[] = [
  misread('id[gt] is inclusive', 'id[gt] is greater than the value', (r) => rename(r, 'id[gt]', 'id[gte]')),
  misread('id[gte] is exclusive', 'id[gte] is greater than or equal', (r) => rename(r, 'id[gte]', 'id[gt]')),
  misread('id[lt] is inclusive', 'id[lt] is less than the value', (r) => rename(r, 'id[lt]', 'id[lte]')),
  misread('id[lte] is exclusive', 'id[lte] is less than or equal', (r) => rename(r, 'id[lte]', 'id[lt]')),
  misread('id[gt] is dropped in silence', 'each id filter works on its own', ({ url }) =>
    url.searchParams.delete('id[gt]'),
  ),
  misread('id[between] is dropped in silence', 'id[between] is a range', ({ url }) =>
    url.searchParams.delete('id[between]'),
  ),
  misread('filters hold on the first page alone', 'id filters hold on every page', ({ url }) => {
    if (Number(url.searchParams.get('_page') ?? 1) > 1) url.searchParams.delete('id[gt]');
  }),
  misread('updatedSince is exclusive', 'updatedSince includes the instant itself', (request) =>
    changeSince(request, (since) => new Date(Date.parse(since) + 1000).toISOString()),
  ),
  misread('updatedSince is ignored', 'updatedSince leaves out what was modified before', ({ url }) =>
    url.searchParams.delete('updatedSince'),
  ),
  misread('updatedSince ignores the offset', 'updatedSince is an instant: an offset counts', (request) =>
    changeSince(request, (since) => since.replace(/[+-]\d{2}:\d{2}$/, 'Z')),
  ),
  misread('updatedSince does not take a date', 'updatedSince takes a date and a timestamp', ({ url }) => {
    if (!url.searchParams.get('updatedSince')?.includes('T')) url.searchParams.delete('updatedSince');
  }),
  misread(
    'updatedSince loses the id filter',
    'updatedSince combines with pages and id filters',
    ({ url }) => {
      if (url.searchParams.has('updatedSince')) url.searchParams.delete('id[gt]');
    },
  ),
];

const pages: readonly Defect[] = [
  misread('_page counts from 0', '_page is the page number, from 1', ({ url }) => {
    const page = url.searchParams.get('_page');
    if (page !== null) url.searchParams.set('_page', String(Number(page) + 1));
  }),
  misread('_page is ignored', '_page is the page number, from 1', ({ url }) =>
    url.searchParams.delete('_page'),
  ),
  misread('the third page repeats the second', 'pages to an empty one hold every record once', ({ url }) => {
    if (url.searchParams.get('_page') === '3') url.searchParams.set('_page', '2');
  }),
  missay('a full page lacks its last record', 'id filters hold on every page', (answer) => {
    if (answer.list.length === 30) answer.text = JSON.stringify(answer.list.slice(0, -1));
  }),
  missay('a list is wrapped in an object', 'is 200 with an array of records', (answer) => {
    if (listed(answer.request) && answer.status === 200) answer.text = JSON.stringify({ data: answer.list });
  }),
  missay('a header tells the total', 'no list tells a total count', ({ headers }) =>
    headers.set('X-Total-Count', '65'),
  ),
];

const records: readonly Defect[] = [
  missay('ids are numbers', 'every record has a string id', (answer) =>
    eachRecord(answer, (record) => {
      record.id = Number(record.id);
    }),
  ),
  missay('money is a number', 'money is a decimal string', (answer) =>
    eachRecord(answer, (record) => {
      if (typeof record.salePrice === 'string') record.salePrice = Number(record.salePrice);
    }),
  ),
  missay('money is a number in single records alone', 'money is a decimal string', (answer) => {
    if (!single(answer.request)) return;
    eachRecord(answer, (record) => {
      if (typeof record.saleRrpPrice === 'string') record.saleRrpPrice = Number(record.saleRrpPrice);
    });
  }),
  missay('lists leave a product field out', 'every field of the table is in every product', (answer) => {
    if (!listed(answer.request)) return;
    eachRecord(answer, (record) => {
      delete record.weight;
    });
  }),
  missay('a single record comes as a list of one', 'is 200 with the record of that id', (answer) => {
    if (single(answer.request) && answer.status === 200) answer.text = `[${answer.text}]`;
  }),
  missay('no such record is an empty 200', 'is 404 not_found where there is no such record', (answer) => {
    if (answer.status !== 404) return;
    answer.status = 200;
    answer.text = '{}';
  }),
  missay('no such record is a page of HTML', 'is 404 not_found where there is no such record', (answer) => {
    if (answer.status !== 404) return;
    answer.headers.set('Content-Type', 'text/html');
    answer.text = '<h1>Not found</h1>';
  }),
  missay('timestamps are in local form', 'createdAt and updatedAt as ISO 8601', (answer) =>
    eachRecord(answer, (record) => {
      if (typeof record.createdAt === 'string') record.createdAt = '31-01-2026 12:00';
    }),
  ),
];

const companies: readonly Defect[] = [
  missay(
    'a foreign record can be got',
    'a record of another company is no such record',
    async (answer, { keys }) => {
      if (!single(answer.request) || answer.status !== 404) return;
      const response = await answer.ask(answer.request.url, { 'X-AUTH-TOKEN': keys.otherCompany ?? '' });
      answer.status = response.status;
      answer.text = await response.text();
    },
  ),
  missay(
    'a foreign record is listed',
    'a key sees the data of its own company alone',
    async (answer, { keys }) => {
      if (!listed(answer.request) || answer.status !== 200 || answer.list.length === 0) return;
      const response = await answer.ask(answer.request.url, { 'X-AUTH-TOKEN': keys.otherCompany ?? '' });
      const [foreign] = JSON.parse(await response.text()) as unknown[];
      if (foreign !== undefined) answer.text = JSON.stringify([...answer.list, foreign]);
    },
  ),
  misread(
    'a key of another company changes ours',
    'a key changes the data of its own company alone',
    (request, { keys }) => {
      if (request.method !== 'GET' && request.headers['X-AUTH-TOKEN'] === keys.otherCompany) {
        request.headers['X-AUTH-TOKEN'] = keys.main;
      }
    },
  ),
];

export const readingDefects: readonly Defect[] = [...filters, ...pages, ...records, ...companies];
