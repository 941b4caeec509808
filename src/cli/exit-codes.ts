/** How the command ends. Scripts rely on these numbers: they do not change within a major version. */
export const EXIT = {
  done: 0,
  /** Something that none of the others says; an error of the command itself. */
  failed: 1,
  /** Wrong arguments, or a setting is missing. Nothing was sent. */
  usage: 2,
  /** The key is refused, or may not do this: 401, 403. */
  denied: 3,
  /** There is no such record: 404. */
  notFound: 4,
  /** The service refused otherwise, or its answer cannot be used. */
  service: 5,
  /** The service could not be reached, or not in time. */
  unreachable: 6,
  /** A file cannot be read or written, or is not the one that it should be. */
  file: 8,
  /** `discover --check`: something has changed. */
  changed: 9,
  /** Stopped by Ctrl-C. */
  interrupted: 130,
  /** Nobody reads standard output any more. */
  pipeClosed: 141,
  /** Stopped by SIGTERM. */
  terminated: 143,
} as const;

/** For the help of the command. */
export const EXIT_HELP = `
Exit codes:
  0    done
  1    failed in a way that no other code names
  2    wrong arguments, or ACCOUNTING_BASE_URL or ACCOUNTING_API_KEY is missing
  3    the key is refused, or may not do this
  4    there is no such record
  5    the service refused, or its answer cannot be used
  6    the service could not be reached
  8    a file cannot be read or written, or belongs to something else
  9    discover --check: something has changed
  130  stopped by Ctrl-C (143: by SIGTERM, 141: nobody reads the output any more)`;
