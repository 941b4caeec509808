import { createHook } from 'node:async_hooks';

/**
 * Work on the thread pool, as async_hooks names it: crypto.subtle, fs and dns. `HTTPCLIENTREQUEST` is something else, and
 * `RANDOMBYTESREQUEST` is what getRandomValues does at once: async_hooks sees its end only in a garbage collection.
 */
const THREAD_POOL = /^(?!HTTP|RANDOM)\w+REQUEST$|^FSREQ|^FILEHANDLECLOSEREQ$|^GETADDRINFOREQWRAP$/;

const pending = new Set<number>();

const hook = createHook({
  init(id, type) {
    if (THREAD_POOL.test(type)) pending.add(id);
  },
  before: (id) => void pending.delete(id),
  destroy: (id) => void pending.delete(id),
  trackPromises: false,
});

/** Work on the thread pool is seen only if it starts between `watchThreadPool` and `ignoreThreadPool`. */
export function watchThreadPool(): void {
  hook.enable();
}

export function ignoreThreadPool(): void {
  hook.disable();
  pending.clear();
}

/** Whether work on the thread pool is pending. It takes real time, more on a busy machine, and ends without a timer. */
export function threadPoolIsBusy(): boolean {
  return pending.size > 0;
}
