import { type HttpHandler, HttpResponse, http } from 'msw';
import type { Sandbox } from './sandbox.ts';

/**
 * The sandbox as handlers for msw 2 or 3, for a test that has an msw server already: everything under the sandbox's
 * origin is answered by it (`createSandbox({ origin: 'https://books.example.com' })` chooses the origin).
 *
 * ```ts
 * const server = setupServer(...sandboxHandlers(sandbox));
 * ```
 *
 * Of the faults, whatever ends without a whole answer is a plain network error here: refused, reset and closed look
 * alike. A body that is cut, is too short or does not unpack ends in an error that need not name its cause; msw 3
 * rejects the `fetch` itself, where a socket would first give the headers. `sandbox.listen()` tells them all apart.
 */
export function sandboxHandlers(sandbox: Sandbox): HttpHandler[] {
  const { baseUrl } = sandbox;
  return [
    http.all(`${baseUrl}/*`, async ({ request }) => {
      try {
        // A redirect is for whoever sent the request to follow, or not.
        return await sandbox.fetch(request, { redirect: 'manual' });
      } catch (error) {
        if (error instanceof TypeError || request.signal.aborted) return HttpResponse.error();
        throw error;
      }
    }),
  ];
}
