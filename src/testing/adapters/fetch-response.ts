import { cutAt, type Delivery, type Ending } from '../faults/delivery.ts';
import { untilAborted, wait } from '../wait.ts';

/** A failure as Node's fetch reports it: a TypeError whose cause carries the system's code. */
function networkError(message: string, code: string, detail: string): TypeError {
  return new TypeError(message, { cause: Object.assign(new Error(detail), { code }) });
}

const refused = () => networkError('fetch failed', 'ECONNREFUSED', 'connect ECONNREFUSED');
const reset = () => networkError('fetch failed', 'ECONNRESET', 'read ECONNRESET');
const closed = () => networkError('fetch failed', 'UND_ERR_SOCKET', 'other side closed');
const bodyClosed = () => networkError('terminated', 'UND_ERR_SOCKET', 'other side closed');
const bodyReset = () => networkError('terminated', 'ECONNRESET', 'read ECONNRESET');
/** The origin is not the sandbox's. */
export const unknownHost = (host: string) =>
  networkError('fetch failed', 'ENOTFOUND', `getaddrinfo ENOTFOUND ${host}: this sandbox does not serve it`);

/**
 * A delivery as the result of `fetch`: a Response, or a rejection with the TypeError that Node's fetch throws. A stall
 * ends when the signal aborts, with its reason. `onEnd` is called when the Response has its last byte.
 */
export async function fetchResponse(
  { method, signal }: Request,
  delivery: Delivery,
  onEnd: (isWhole: boolean) => void = () => {},
): Promise<Response> {
  const { response, transmission } = delivery;
  if (transmission.how === 'refused') throw refused();
  if (transmission.how === 'nothing') return endWithoutBody(transmission.ending, signal);
  if (transmission.how === 'cut' && transmission.in === 'headers')
    return endWithoutBody(transmission.ending, signal);
  if (response === undefined) throw closed();

  const { status, headers, body } = response;
  // The constructor of Response throws if these statuses have a body.
  if (method === 'HEAD' || body === undefined || [204, 205, 304].includes(status)) {
    onEnd(true);
    return new Response(null, { status, headers });
  }
  const chunks = chunksOf(delivery, body);
  const content = chunks === undefined ? body : streamOf(chunks, signal, onEnd);
  if (chunks === undefined) onEnd(true);
  return new Response(content as BodyInit, { status, headers });
}

async function endWithoutBody(ending: Ending, signal: AbortSignal): Promise<never> {
  if (ending === 'stall') await untilAborted(signal);
  signal.throwIfAborted();
  throw ending === 'reset' ? reset() : closed();
}

type Chunks = (signal: AbortSignal) => AsyncGenerator<Uint8Array, void, undefined>;

/** The body of a faulty delivery in pieces, with the end that a connection would have; undefined if it is sent whole. */
function chunksOf({ transmission }: Delivery, body: Uint8Array): Chunks | undefined {
  switch (transmission.how) {
    case 'cut':
      return async function* (signal) {
        const end = cutAt(transmission.atByte, body.byteLength);
        if (end > 0) yield body.subarray(0, end);
        if (transmission.ending === 'stall') await untilAborted(signal);
        else throw transmission.ending === 'reset' ? bodyReset() : bodyClosed();
      };
    case 'slow-body':
      return async function* (signal) {
        for (let at = 0; at < body.byteLength && !signal.aborted; at += transmission.bytes) {
          await wait(transmission.everyMs, signal);
          yield body.subarray(at, at + transmission.bytes);
        }
      };
    default:
      return undefined;
  }
}

function streamOf(
  chunks: Chunks,
  signal: AbortSignal,
  onEnd: (isWhole: boolean) => void,
): ReadableStream<Uint8Array> {
  const cancelled = new AbortController();
  const source = chunks(AbortSignal.any([signal, cancelled.signal]));
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await source.next();
        if (done === true || signal.aborted) onEnd(!signal.aborted);
        if (signal.aborted) controller.error(signal.reason);
        else if (done === true) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        onEnd(false);
        controller.error(error);
      }
    },
    cancel() {
      onEnd(false);
      cancelled.abort();
    },
  });
}
