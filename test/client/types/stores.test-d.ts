import { memoryStore, type Store } from 'accounting-data-sdk';
import { fileStore } from 'accounting-data-sdk/node';
import Keyv from 'keyv';
import { createStorage } from 'unstorage';
import { assertType, test } from 'vitest';

/** The overloads of ioredis 5. */
interface IoRedis {
  get(
    key: string | Buffer,
    callback?: (error?: Error | null, value?: string | null) => void,
  ): Promise<string | null>;
  set(
    key: string | Buffer,
    value: string | Buffer | number,
    callback?: (error?: Error | null, value?: 'OK') => void,
  ): Promise<'OK'>;
  set(key: string | Buffer, value: string | Buffer | number, get: 'GET'): Promise<string | null>;
  set(key: string | Buffer, value: string | Buffer | number, nx: 'NX'): Promise<'OK' | null>;
}

/** The client of redis 6. */
interface NodeRedis {
  get(key: string | Buffer): Promise<string | null>;
  set(
    key: string | Buffer,
    value: string | Buffer | number,
    options?: { readonly EX?: number; readonly condition?: 'NX' | 'XX' },
  ): Promise<string | null>;
}

test('a Store can be a Map, a client of Keyv, unstorage or Redis, or a store of the package', () => {
  assertType<Store>(new Map<string, string>());
  assertType<Store>(new Keyv());
  assertType<Store>(new Keyv<string>());
  assertType<Store>(createStorage());
  assertType<Store>(createStorage<string>());
  assertType<Store>(null as unknown as IoRedis);
  assertType<Store>(null as unknown as NodeRedis);
  assertType<Required<Store>>(memoryStore());
  assertType<Required<Store>>(fileStore('.'));
  // It may only read.
  assertType<Store>({ get: async (key: string) => (key === '' ? null : { v: 1 }), set: undefined });
});

test('a Store has get, keys that are strings, and states that are text or objects', () => {
  // @ts-expect-error: no get
  assertType<Store>({ set: () => true });
  // @ts-expect-error: a state is text or an object
  assertType<Store>(new Map<string, number>());
  // @ts-expect-error: keys are strings
  assertType<Store>(new Map<number, string>());
});
