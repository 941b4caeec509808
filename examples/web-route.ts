/** A web route that reads a product, maps errors to HTTP statuses, and stops when the browser disconnects. */
import { createServer } from 'node:http';
import { createClient, isAccountingError } from 'accounting-data-sdk';

// A visitor waits a few seconds at most.
const client = createClient({ deadlineMs: 5_000, maxWaitMs: 1_000, retry: { maxAttempts: 2 } });

/** The statuses of the errors guide. 502, 503 and 504 say that the fault lies behind this route. */
function statusOf(error: unknown): number {
  if (error instanceof URIError) return 400; // a malformed %-escape in the path
  if (!isAccountingError(error)) return 500;
  if (error.code === 'not_found') return error.missing ? 404 : 502;
  if (error.code === 'invalid_input') return 400;
  if (error.code === 'malformed_request') return 500;
  if (error.code === 'forbidden' || error.code === 'scope_required') return 403;
  if (error.code === 'timeout') return 504;
  return error.retryable || error.code === 'rate_limited' ? 503 : 502;
}

const server = createServer(async (request, response) => {
  const [, id] = /^\/products\/([^/?]+)/.exec(request.url ?? '') ?? [];
  if (id === undefined) return response.writeHead(404).end();
  const disconnected = new AbortController();
  response.on('close', () => disconnected.abort());
  try {
    const product = await client.products.get(decodeURIComponent(id), { signal: disconnected.signal });
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(product));
  } catch (error) {
    if (disconnected.signal.aborted) return console.log('the browser disconnected');
    const code = isAccountingError(error) ? error.code : 'internal';
    if (isAccountingError(error, 'rate_limited')) {
      response.setHeader('Retry-After', Math.ceil((error.retryAfterMs ?? 1_000) / 1_000));
    }
    console.error(String(error)); // for the operator; never shows the API key
    response.writeHead(statusOf(error), { 'Content-Type': 'application/json' }).end(JSON.stringify({ code }));
  }
});

server.listen(Number(process.env.PORT ?? 3000), () => {
  const address = server.address();
  if (typeof address === 'object') console.log(`http://localhost:${address?.port}/products/1`);
});
