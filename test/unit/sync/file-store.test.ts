import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fileStore } from 'accounting-data-sdk/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'file-store-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('fileStore', () => {
  it('keeps a value beyond itself', async () => {
    const directory = join(folder, 'made', 'on', 'demand');
    await fileStore(directory).set('p:acme:accounts', '{"v":1}');
    expect(await fileStore(directory).get('p:acme:accounts')).toBe('{"v":1}');
  });

  it('takes a file URL', async () => {
    const store = fileStore(pathToFileURL(folder));
    await store.set('k', 'v');
    expect(await fileStore(folder).get('k')).toBe('v');
  });

  it('has nothing under a key that was never written or was deleted', async () => {
    const store = fileStore(folder);
    expect(await store.get('k')).toBeUndefined();
    await store.set('k', 'v');
    await store.delete('k');
    await store.delete('k');
    expect(await store.get('k')).toBeUndefined();
  });

  it('replaces a value as a whole, and leaves nothing else behind', async () => {
    const store = fileStore(folder);
    const values = Array.from({ length: 20 }, (_, n) => String(n).repeat(1000));
    await Promise.all(values.map((value) => store.set('k', value)));
    expect(values).toContain(await store.get('k'));
    expect(await readdir(folder)).toEqual(['k.json']);
  });

  it('leaves the old value and no other file where a write fails', async () => {
    const store = fileStore(folder);
    await store.set('k', 'old');
    await expect(store.set('k', Symbol('no text') as unknown as string)).rejects.toThrow();
    expect(await store.get('k')).toBe('old');
    expect(await readdir(folder)).toEqual(['k.json']);
  });

  it('gives each key a file of its own, in the directory and safe everywhere', async () => {
    const store = fileStore(folder);
    const keys = [
      'p:A:x',
      'p:a:x',
      'p:=a:x',
      'p~a~x',
      'p:a/x',
      '../up',
      '..',
      '.hidden',
      'p:é:x',
      'p%3aa:x',
      '',
    ];
    for (const key of keys) await store.set(key, key);
    for (const key of keys) expect(await store.get(key)).toBe(key);
    const files = await readdir(folder);
    expect(new Set(files.map((name) => name.toLowerCase())).size).toBe(keys.length);
    for (const name of files) expect(name).toMatch(/^[a-z0-9_~=%-][a-z0-9_.~=%-]*$|^\.json$/);
    expect(existsSync(join(folder, '..', 'up.json'))).toBe(false);
  });

  it('takes the longest keys that a sync can have, and keeps them apart', async () => {
    const store = fileStore(folder);
    const start = `${'P'.repeat(100)}:${'T'.repeat(100)}:`;
    const keys = ['A', 'B', 'a'].map((end) => start + end.repeat(100));
    for (const key of keys) await store.set(key, key);
    for (const key of keys) expect(await store.get(key)).toBe(key);
    expect(await readdir(folder)).toHaveLength(keys.length);
    for (const key of keys) await store.delete(key);
    expect(await readdir(folder)).toEqual([]);
  });

  it('rejects where the directory cannot be', async () => {
    await fileStore(folder).set('k', 'v');
    await expect(fileStore(join(folder, 'k.json')).set('k', 'v')).rejects.toThrow();
  });
});
