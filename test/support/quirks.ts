/** What some services do that is no option of the sandbox. */
export interface Quirks {
  /** The id in a path is cast to an integer, as PHP does: `2abc` and `02` are record 2. */
  readonly castsIds?: boolean;
  /** The form in which the service stores a product number. */
  readonly storedKey?: (productNumber: string) => string;
  /** A 422 is stored under its Idempotency-Key, so that the key returns it again. */
  readonly storesRejections?: boolean;
  /** All companies share one set of Idempotency-Keys. */
  readonly sharesKeys?: boolean;
  /** A value that must be unique and is in use is a 409, not a 422. */
  readonly conflictsWith409?: boolean;
}

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** The `fetch` of a sandbox whose service has these quirks too. */
export function quirky(
  fetch: Fetch,
  { castsIds, storedKey, storesRejections, sharesKeys, conflictsWith409 }: Quirks,
): Fetch {
  /** The first response to each Idempotency-Key that some requests get again. */
  const stored = new Map<string, { readonly apiKey: string | null; readonly response: Response }>();
  return async (input, init) => {
    const request = new Request(input, init);
    const { method, headers, signal } = request;
    const url = new URL(request.url);
    if (castsIds) url.pathname = url.pathname.replace(/(\/\d+)[^/]*$/, (_, id: string) => castOf(id));
    let body = await request.text();
    if (storedKey && body.startsWith('{')) {
      const { productNumber, ...fields } = JSON.parse(body);
      body = JSON.stringify({ ...fields, productNumber: productNumber && storedKey(productNumber) });
    }
    const send = () => fetch(url, { method, headers, signal, ...(body === '' ? {} : { body }) });
    const key = headers.get('idempotency-key');
    if (method !== 'POST' || key === null) return await send();

    const apiKey = headers.get('x-auth-token');
    const first = stored.get(key);
    const isOfOther = sharesKeys && first?.apiKey !== apiKey;
    if (first && (isOfOther || first.response.status === 422)) return first.response.clone();
    const response = await send();
    if (response.status === 422 ? storesRejections : response.ok && sharesKeys && !first)
      stored.set(key, { apiKey, response: response.clone() });
    const isTaken =
      conflictsWith409 && response.status === 422 && (await response.clone().text()).includes('already used');
    if (!isTaken) return response;
    const problem = { type: 'conflict', title: 'The record already exists', status: 409 };
    return Response.json(problem, { status: 409, headers: { 'Content-Type': 'application/problem+json' } });
  };
}

const castOf = (id: string) => `/${BigInt(id.slice(1))}`;
