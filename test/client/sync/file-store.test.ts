import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fileStore } from 'accounting-data-sdk/node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'file-store-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('fileStore', () => {
  test('returns a value that another instance has written, to a path or a file URL', async () => {
    const directory = join(folder, 'made', 'on', 'demand');
    await fileStore(directory).set('p:acme:accounts', '{"v":1}');
    expect(await fileStore(pathToFileURL(directory)).get('p:acme:accounts')).toBe('{"v":1}');
  });

  test.each([new URL('https://books.example.com'), '', undefined])(
    'rejects a directory that is neither a path nor a file URL: %s',
    (directory) => {
      expect(() => fileStore(directory as string)).toThrow(
        expect.objectContaining({ code: 'invalid_input', argument: 'directory' }),
      );
    },
  );

  test('has nothing under a key that was never written or was deleted', async () => {
    const store = fileStore(folder);
    expect(await store.get('k')).toBeUndefined();
    await store.set('k', 'v');
    for (let times = 0; times < 2; times++) await store.delete('k');
    expect(await store.get('k')).toBeUndefined();
  });

  test('replaces a value as a whole, and leaves nothing else behind', async () => {
    const store = fileStore(folder);
    const values = Array.from({ length: 20 }, (_, n) => String(n).repeat(1000));
    await Promise.all(values.map((value) => store.set('k', value)));
    expect(values).toContain(await store.get('k'));
    expect(await readdir(folder)).toEqual(['k.json']);
  });

  test('leaves the old value and no other file if a write fails', async () => {
    const store = fileStore(folder);
    await store.set('k', 'old');
    await expect(store.set('k', Symbol('no text') as unknown as string)).rejects.toThrow();
    expect(await store.get('k')).toBe('old');
    expect(await readdir(folder)).toEqual(['k.json']);
  });

  test('removes temporary files that a killed process left, but none that may be in use', async () => {
    const left = 'k.json.0123456789ab.tmp';
    const others = ['k.json.ba9876543210.tmp', 'mine.tmp', 'k.json'];
    const anHourAgo = new Date(Date.now() - 3_700_000);
    for (const name of [left, ...others]) {
      await writeFile(join(folder, name), '{}');
      await utimes(join(folder, name), anHourAgo, anHourAgo);
    }
    await utimes(join(folder, 'k.json.ba9876543210.tmp'), new Date(), new Date());
    expect(await fileStore(folder).get('k')).toBe('{}');
    expect((await readdir(folder)).toSorted()).toEqual(others.toSorted());
  });

  test('locks a key once at a time, for every instance, and leaves no file behind', async () => {
    const lock = async (key: string) => (await fileStore(folder).lock(key)) as () => void;
    const unlock = await lock('p:acme:products-push');
    expect(await lock('p:acme:products-push')).toBeUndefined();
    const unlockOther = await lock('p:bolt:products-push');
    unlock();
    unlockOther();
    expect(await readdir(folder)).toEqual([]);
    (await lock('p:acme:products-push'))();
  });

  test('rejects an ill-formed key', async () => {
    const rejection = { code: 'invalid_input', argument: 'key' };
    await expect(fileStore(folder).get('a\uD800')).rejects.toMatchObject(rejection);
    await expect(fileStore(folder).set('a\uD800', 'v')).rejects.toMatchObject(rejection);
    expect(await readdir(folder)).toEqual([]);
  });

  test('gives each key a file of its own, in the directory and safe everywhere', async () => {
    const store = fileStore(folder);
    const keys = ['p:A:x', 'p:a:x', 'p:=a:x', 'p~a~x', 'p:a/x', '../up', '..', '.hidden', 'é', 'p%3aa:x', ''];
    for (const key of keys) await store.set(key, key);
    for (const key of keys) expect(await store.get(key)).toBe(key);
    const files = await readdir(folder);
    expect(new Set(files.map((name) => name.toLowerCase())).size).toBe(keys.length);
    for (const name of files) expect(name).toMatch(/^[a-z0-9_~=%-][a-z0-9_.~=%-]*$|^\.json$/);
    expect(existsSync(join(folder, '..', 'up.json'))).toBe(false);
  });

  test('takes the longest keys that a sync can have, and keeps them apart', async () => {
    const store = fileStore(folder);
    const start = `${'P'.repeat(100)}:${'T'.repeat(100)}:`;
    const keys = ['A', 'B', 'a'].map((end) => start + end.repeat(100));
    for (const key of keys) await store.set(key, key);
    for (const key of keys) expect(await store.get(key)).toBe(key);
    expect(await readdir(folder)).toHaveLength(keys.length);
    for (const key of keys) await store.delete(key);
    expect(await readdir(folder)).toEqual([]);
  });
});
