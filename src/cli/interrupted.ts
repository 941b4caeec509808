/** The user wants the command to stop: the reason of its signal. Not a failure, and not said on the screen. */
export class Interrupted extends Error {
  readonly exitCode: number;

  constructor(by: string, exitCode: number) {
    super(`Stopped by ${by}.`);
    this.exitCode = exitCode;
  }
}
