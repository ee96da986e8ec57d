/** The environments as tests read them: with an image where one has to be given. */

import type { App } from 'cdk8s';
import { buildApp } from '../../stacks/app.ts';
import { environments, readPlatformFacts, readSettings } from '../../stacks/environments.ts';
import type { Settings } from '../../stacks/settings.ts';

/** An image that every environment accepts. */
export const pinned = `example.test/rossoctl@sha256:${'a'.repeat(64)}`;

export function settingsFor(environment: string): Settings {
  return readSettings(environment, environment === 'production' ? { image: pinned } : {});
}

/** The app of an environment, checked against its platform. */
export function appOf(environment: string): App {
  const settings = settingsFor(environment);
  return buildApp(settings, readPlatformFacts(settings));
}

/** Environments that install a platform. */
export function platformEnvironments(): readonly string[] {
  return environments().filter((environment) => 'platform' in settingsFor(environment));
}
