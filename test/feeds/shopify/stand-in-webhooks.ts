import type { Root } from './schema/execution.ts';

export interface StandInSubscription {
  readonly id: string;
  readonly topic: string;
  name: string | null;
  uri: string;
  format: string;
}

type Input = Partial<Pick<StandInSubscription, 'name' | 'uri' | 'format'>>;

const namePattern = /^[\w-]{1,50}$/;

/** The app's webhook subscriptions in one shop, with the rules that the schema cannot express. */
export class WebhookSubscriptions {
  readonly all: StandInSubscription[] = [];
  /** Topics for which the app lacks an access scope. */
  readonly forbidden = new Set<string>();
  #created = 0;

  add(topic: string, { name = null, uri = '', format = 'JSON' }: Input): StandInSubscription {
    this.#created += 1;
    const id = `gid://shopify/WebhookSubscription/${this.#created}`;
    const subscription = { id, topic, name, uri, format };
    this.all.push(subscription);
    return subscription;
  }

  readonly root: Root = {
    webhookSubscriptions: () => this.all,
    webhookSubscriptionCreate: ({ topic, webhookSubscription }) => {
      const problem = this.#problem(String(topic), webhookSubscription as Input);
      if (problem) return refusal(problem);
      return {
        webhookSubscription: this.add(String(topic), webhookSubscription as Input),
        userErrors: [],
      };
    },
    webhookSubscriptionUpdate: ({ id, webhookSubscription }) => {
      const found = this.all.find((each) => each.id === id);
      if (!found) return refusal('Webhook subscription does not exist');
      const problem = this.#problem(found.topic, webhookSubscription as Input, found);
      if (problem) return refusal(problem);
      Object.assign(found, webhookSubscription);
      return { webhookSubscription: found, userErrors: [] };
    },
    webhookSubscriptionDelete: ({ id }) => {
      const index = this.all.findIndex((each) => each.id === id);
      if (index < 0) return refusal('Webhook subscription does not exist');
      this.all.splice(index, 1);
      return { deletedWebhookSubscriptionId: id, userErrors: [] };
    },
  };

  #problem(topic: string, input: Input, changed?: StandInSubscription): string | undefined {
    const others = this.all.filter((each) => each !== changed);
    if (this.forbidden.has(topic)) {
      return 'You cannot create a webhook subscription with the specified topic';
    }
    if (!input.uri?.startsWith('https://')) return 'Address protocol is not supported';
    if (others.some((each) => each.topic === topic && each.uri === input.uri)) {
      return 'Address for this topic has already been taken';
    }
    if (input.name == null) return undefined;
    if (!namePattern.test(input.name)) return 'Name is invalid';
    const isTaken = others.some(({ name }) => name === input.name);
    return isTaken ? 'Name has already been taken' : undefined;
  }
}

function refusal(message: string) {
  return { webhookSubscription: null, userErrors: [{ field: null, message }] };
}
