import type { Delivery, Ending } from '../faults/delivery.ts';
import type { ServiceReply } from '../service/message.ts';
import { untilAborted, wait } from '../wait.ts';
import { badGzip, bodyCut, bodyReset, closed, refused, reset } from './network-error.ts';

/** Statuses that a Response must not give a body. */
const WITHOUT_BODY = new Set([204, 205, 304]);

type Chunks = (signal: AbortSignal | undefined) => AsyncGenerator<Uint8Array, void, undefined>;

function streamOf(chunks: Chunks, signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
  const cancelled = new AbortController();
  const either = signal === undefined ? cancelled.signal : AbortSignal.any([signal, cancelled.signal]);
  const source = chunks(either);
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await source.next();
        if (signal?.aborted === true) controller.error(signal.reason);
        else if (done === true) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        controller.error(error);
      }
    },
    cancel: () => cancelled.abort(),
  });
}

function ended(ending: Ending): Error {
  return ending === 'reset' ? bodyReset() : bodyCut();
}

/** The body of a faulty delivery, piece by piece, ending as a connection would. */
function chunksOf({ transmission }: Delivery, body: Uint8Array): Chunks | undefined {
  switch (transmission.how) {
    case 'cut':
      return async function* (signal) {
        if (transmission.atByte > 0) yield body.subarray(0, transmission.atByte);
        if (transmission.ending !== 'stall') throw ended(transmission.ending);
        await untilAborted(signal);
      };
    case 'slow-body':
      return async function* (signal) {
        for (let at = 0; at < body.byteLength && signal?.aborted !== true; at += transmission.bytes) {
          await wait(transmission.everyMs, signal);
          yield body.subarray(at, at + transmission.bytes);
        }
      };
    case 'wrong-length':
      return async function* () {
        yield body.subarray(0, Math.min(body.byteLength, body.byteLength + transmission.by));
        if (transmission.by > 0) throw bodyCut();
      };
    case 'corrupt-gzip':
      // biome-ignore lint/correctness/useYield: unpacking fails before a byte comes out.
      return async function* () {
        throw badGzip();
      };
    default:
      return undefined;
  }
}

function responseOf(reply: ServiceReply, body: BodyInit | null): Response {
  const bodyless = WITHOUT_BODY.has(reply.status);
  return new Response(bodyless ? null : body, { status: reply.status, headers: { ...reply.headers } });
}

/**
 * A delivery as what `fetch` gives: a Response, or a rejection with the TypeError that Node's fetch throws. A stall
 * ends when the signal aborts, with its reason.
 */
export async function toResponse(delivery: Delivery, signal: AbortSignal | undefined): Promise<Response> {
  const { reply, transmission } = delivery;
  if (transmission.how === 'refuse') throw refused();
  if (
    reply === undefined ||
    transmission.how === 'nothing' ||
    (transmission.how === 'cut' && transmission.in === 'headers')
  ) {
    const ending = transmission.how === 'nothing' ? transmission.ending : 'close';
    if (ending === 'stall') await untilAborted(signal);
    signal?.throwIfAborted();
    throw ending === 'reset' ? reset() : closed();
  }

  const body = reply.body ?? new Uint8Array();
  const chunks = chunksOf(delivery, body);
  if (chunks !== undefined) return responseOf(reply, streamOf(chunks, signal));
  return responseOf(reply, reply.body === undefined ? null : (body as Uint8Array<ArrayBuffer>));
}
