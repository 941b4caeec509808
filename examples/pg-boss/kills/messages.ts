/** What a worker sends to the program that kills it. Times are in ms, by the clock of this machine. */
export type Message =
  | { readonly kind: 'start'; readonly tenant: string; readonly at: number }
  | {
      readonly kind: 'end';
      readonly tenant: string;
      readonly at: number;
      readonly status: string;
      /** Sent by the copies since the last message. */
      readonly queries: number;
      /** Memory of this process, in bytes. */
      readonly memory: number;
    };
