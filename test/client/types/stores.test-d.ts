import { memoryStore, type Store } from 'accounting-data-sdk';
import { fileStore } from 'accounting-data-sdk/node';
import type { Redis } from 'ioredis';
import Keyv from 'keyv';
import type { createClient as createRedisClient } from 'redis';
import { createStorage } from 'unstorage';
import { assertType, describe, test } from 'vitest';

describe('a Store can be', () => {
  test('a Map', () => {
    assertType<Store>(new Map<string, string>());
  });

  test('Keyv', () => {
    assertType<Store>(new Keyv());
    assertType<Store>(new Keyv<string>());
  });

  test('unstorage', () => {
    assertType<Store>(createStorage());
    assertType<Store>(createStorage<string>());
  });

  test('ioredis', () => {
    assertType<Store>(null as unknown as Redis);
  });

  test('node-redis', () => {
    assertType<Store>(null as unknown as ReturnType<typeof createRedisClient>);
  });

  test('each store of the package', () => {
    assertType<Required<Store>>(memoryStore());
    assertType<Required<Store>>(fileStore('.'));
  });

  test('an object that only reads', () => {
    assertType<Store>({ get: async (key: string) => (key === '' ? null : { v: 1 }), set: undefined });
  });

  test('no object without get, or with other keys or states', () => {
    // @ts-expect-error: no get
    assertType<Store>({ set: () => true });
    // @ts-expect-error: a state is text or an object
    assertType<Store>(new Map<string, number>());
    // @ts-expect-error: keys are strings
    assertType<Store>(new Map<number, string>());
  });
});
