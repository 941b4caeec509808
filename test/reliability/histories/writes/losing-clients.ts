import { isAccountingError } from 'accounting-data-sdk';
import type { Subject, Writer } from './play.ts';

const patched = (inner: Writer, changes: Partial<Writer>): Writer => ({
  create: (...call) => inner.create(...call),
  update: (...call) => inner.update(...call),
  delete: (...call) => inner.delete(...call),
  ...changes,
});

/** Clients as they are often written, and typical callers; and the mistake that the journal must show for each. */
export const losingClients: Readonly<Record<string, { subject: Subject; seen: RegExp }>> = {
  'makes a new idempotency key for each attempt': {
    subject: {
      fetch: (inner, random) => (url, init) => {
        const headers = new Headers(init.headers);
        if (init.method === 'POST') headers.set('Idempotency-Key', `attempt-${random.next()}`);
        return inner(url, { ...init, headers });
      },
    },
    seen: /^P-\d+: [2-9] records$/,
  },
  'is repeated without its key': {
    subject: { forgetsKeys: true },
    seen: /^P-\d+: [2-9] records$/,
  },
  'says rejected where the response was lost': {
    subject: {
      writer: (inner) =>
        patched(inner, {
          create: (...call) => inner.create(...call).catch(sayRejected),
          update: (...call) => inner.update(...call).catch(sayRejected),
          delete: (...call) => inner.delete(...call).catch(sayRejected),
        }),
    },
    seen: /^(?:P-\d+|update of \w+|delete \d+): said not to be done, and was$/,
  },
  'takes a delete for done whatever comes back': {
    subject: {
      writer: (inner) =>
        patched(inner, { delete: (...call) => inner.delete(...call).catch(() => undefined) }),
    },
    seen: /^delete \d+: said to be done, and was not$/,
  },
  'sends the record whole to change one field of it': {
    subject: {
      fetch: (inner) => (url, init) =>
        inner(url, init.method === 'PATCH' ? { ...init, body: whole(String(init.body)) } : init),
    },
    seen: /^record \d+: [\w,]+ were set where [\w,]+ were named$/,
  },
  'takes an update for done when it was sent': {
    subject: {
      writer: (inner) =>
        patched(inner, {
          update: (id, patch, options) =>
            inner.update(id, patch, options).catch(() => ({ id, ...definedIn(patch) })),
        }),
    },
    seen: /^update of \w+: said to be done, and was not$/,
  },
};

function sayRejected(error: unknown): never {
  if (isAccountingError(error)) Object.defineProperty(error, 'outcome', { value: 'rejected' });
  throw error;
}

const whole = (patch: string) => JSON.stringify({ name: 'as it was', remark: null, ...JSON.parse(patch) });

/** A patch whose fields that are left out are gone. */
const definedIn = (patch: object) =>
  Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
