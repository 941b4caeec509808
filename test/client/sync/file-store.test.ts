import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { memoryStore } from 'accounting-data-sdk';
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

  test('replaces a value as a whole, and leaves it and nothing else behind, even if a write fails', async () => {
    const store = fileStore(folder);
    const values = Array.from({ length: 20 }, (_, n) => String(n).repeat(1000));
    await Promise.all(values.map((value) => store.set('k', value)));
    const kept = await store.get('k');
    expect(values).toContain(kept);
    await expect(store.set('k', Symbol('no text') as unknown as string)).rejects.toThrow();
    await expect(store.set('a\uD800', 'v')).rejects.toMatchObject({ code: 'invalid_input', argument: 'key' });
    expect(await store.get('k')).toBe(kept);
    await mkdir(join(folder, 'taken.json'));
    await expect(store.set('taken', 'v')).rejects.toThrow();
    expect((await readdir(folder)).toSorted()).toEqual(['k.json', 'taken.json']);
  });

  test('removes temporary files that a killed process left, but none that may be in use', async () => {
    const left = 'k.json.0123456789ab.tmp';
    const others = ['k.json.ba9876543210.tmp', 'mine.tmp', 'k.json'];
    const anHourAgo = new Date(Date.now() - 3_700_000);
    for (const name of [left, ...others]) {
      await writeFile(join(folder, name), '{}');
      await utimes(join(folder, name), anHourAgo, anHourAgo);
    }
    const lately = new Date(Date.now() - 1_800_000);
    await utimes(join(folder, 'k.json.ba9876543210.tmp'), lately, lately);
    // As one that another process has removed meanwhile.
    const gone = 'k.json.ffffffffffff.tmp';
    await symlink(join(folder, 'none'), join(folder, gone));
    expect(await fileStore(folder).get('k')).toBe('{}');
    expect((await readdir(folder)).toSorted()).toEqual([...others, gone].toSorted());
  });

  test('locks a key once at a time, for every instance, and leaves no file behind', async () => {
    const lock = async (key: string) => (await fileStore(locked).lock(key)) as () => void;
    // The first thing that a push does with a store.
    const locked = join(folder, 'new', 'store');
    const unlock = await lock('p:acme:products-push');
    expect(await lock('p:acme:products-push')).toBeUndefined();
    const unlockOther = await lock('p:bolt:products-push');
    unlock();
    unlockOther();
    expect(await readdir(locked)).toEqual([]);
    (await lock('p:acme:products-push'))();
  });

  test('locks as a store in memory does', async () => {
    const store = memoryStore();
    const unlock = await store.lock('p:acme:products-push');
    expect(await store.lock('p:acme:products-push')).toBeUndefined();
    expect(await store.lock('p:bolt:products-push')).toBeTypeOf('function');
    if (unlock) unlock();
    expect(await store.lock('p:acme:products-push')).toBeTypeOf('function');
  });

  test('gives each key a file of its own, in the directory and safe everywhere, until it is deleted', async () => {
    const store = fileStore(folder);
    const longest = ['A', 'B', 'a'].map((end) => `${'P'.repeat(100)}:${'T'.repeat(100)}:${end.repeat(100)}`);
    const odd = ['p:A:x', 'p:a:x', 'p:=a:x', 'p~a~x', 'p:a/x', '../up', '..', '.hidden', 'é', 'p%3aa:x', ''];
    // With the name of a temporary file, some of them are longer than a file system allows.
    const long = [233, 234, 250].map((length) => 'n'.repeat(length));
    const keys = [...odd, ...longest, ...long];
    for (const key of keys) await store.set(key, key);
    for (const key of keys) expect(await store.get(key)).toBe(key);
    const files = await readdir(folder);
    expect(new Set(files.map((name) => name.toLowerCase())).size).toBe(keys.length);
    for (const name of files) expect(name).toMatch(/^[a-z0-9_~=%-][a-z0-9_.~=%-]*$|^\.json$/);
    expect(existsSync(join(folder, '..', 'up.json'))).toBe(false);
    for (const key of [...keys, ...keys]) await store.delete(key);
    expect([await store.get('p:A:x'), await readdir(folder)]).toEqual([undefined, []]);
  });
});
