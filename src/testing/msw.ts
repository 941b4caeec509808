/**
 * The sandbox as handlers for msw.
 *
 * @packageDocumentation
 */
import { type HttpHandler, HttpResponse, http } from 'msw';
import type { Sandbox } from './sandbox.ts';

/**
 * The sandbox as handlers for msw 2 or 3, for a test that already has an msw server. They handle every request to the
 * sandbox's origin (`createSandbox({ origin: 'https://books.example.com' })` sets the origin).
 *
 * ```ts
 * const server = setupServer(...sandboxHandlers(sandbox));
 * ```
 *
 * A fault that ends a connection without a whole response is a plain network error here: a refused, a reset and a closed
 * connection look the same. A body that is cut ends in an error that need not name its cause; with msw 3 `fetch` itself
 * rejects, although a socket delivers the headers first. `sandbox.listen()` distinguishes them all.
 */
export function sandboxHandlers(sandbox: Sandbox): HttpHandler[] {
  const { baseUrl } = sandbox;
  return [
    http.all(`${baseUrl}/*`, async ({ request }) => {
      try {
        // The caller's fetch follows the redirect, or does not.
        return await sandbox.fetch(request, { redirect: 'manual' });
      } catch (error) {
        if (error instanceof TypeError || request.signal.aborted) return HttpResponse.error();
        throw error;
      }
    }),
  ];
}
