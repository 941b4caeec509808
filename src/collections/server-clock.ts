import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { isFarAhead } from '../schemas/timestamp.ts';

/** The service's clock, as the last answer to a list of one client showed it. */
export class ServerClock {
  #seenAt: number | undefined;

  saw(serverTime: Date | undefined): void {
    this.#seenAt = serverTime?.getTime() ?? this.#seenAt;
  }

  /** Refuses an instant of the caller's that lies more than 24 hours in the service's future. */
  refuseFuture(instant: string | undefined, argument: string): void {
    if (instant === undefined || this.#seenAt === undefined) return;
    if (isFarAhead(instant, this.#seenAt)) {
      throw new InvalidInputError(argument, "is more than 24 hours ahead of the service's clock");
    }
  }
}
