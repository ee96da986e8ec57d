/** The mixin `RequireDigest`: every image is pinned by digest, so that what was reviewed is what runs. */

import { ApiObject } from 'cdk8s';
import type { IConstruct } from 'constructs';
import { configMaps } from '../runtime/api/names.ts';
import { compiledDefaults } from '../runtime/config/platform.ts';
import { isProblem, parseConfig } from '../runtime/config/sources.ts';
import { AgentPlatform } from './agent-platform.ts';
import { OrganisationRule } from './organisation-rule.ts';
import { containersOf, type Json, type PodAt, podsOf, recordOf, textOf, valuesAt } from './pods.ts';

const { name: configName, key: configKey } = configMaps.platform;
const byDigest = /@sha256:[0-9a-f]{64}$/;

/**
 * Synthesis fails on an image without `@sha256:<64 hex digits>`: of a container of any kind in a pod or pod template of any kind of object,
 * of an image volume, of the operator, and of the sidecars that the platform injects. These are in `config.images` of the AgentPlatform;
 * one that is not set there is the built-in default, which is a tag and therefore refused too.
 *
 * It sees what is in the app, not what the controller of some other custom resource makes from fields of its own.
 */
export class RequireDigest extends OrganisationRule {
  protected violations(construct: IConstruct): readonly string[] {
    if (construct instanceof AgentPlatform) return defaultViolations(construct);
    if (!ApiObject.isApiObject(construct)) return [];
    const { kind, name } = construct;
    const object = construct.toJson() as Json;
    const images = [...podsOf(object).flatMap(imagesOf), ...configured(object)];
    return images.filter(isLoose).map(({ where, image }) => `${kind} ${name}, ${where}: ${sentence(image)}`);
  }
}

interface ImageAt {
  readonly where: string;
  /** Absent: none is given. */
  readonly image: string | undefined;
}

const isLoose = ({ image }: ImageAt) => image === undefined || !byDigest.test(image);

function sentence(image: string | undefined): string {
  if (image === undefined) return 'no image is given: write REGISTRY/NAME@sha256:<64 hex digits>';
  const [, name = image] = /^(.*?)(?::[^/:@]*)?(?:@.*)?$/.exec(image) ?? [];
  return `image ${JSON.stringify(image)} is not pinned by digest: write ${name}@sha256:<64 hex digits>`;
}

function imagesOf(pod: PodAt): readonly ImageAt[] {
  const mounted = valuesAt({ path: pod.path, value: pod.spec }, 'volumes.*.image');
  return [
    ...containersOf(pod).map(({ path, name, container }) => ({
      where: `container ${name} (${path})`,
      image: textOf(container['image']),
    })),
    ...mounted.map(({ path, value }) => ({ where: path, image: textOf(recordOf(value)['reference']) })),
  ];
}

/** Images that the platform's configuration sets, whoever wrote the ConfigMap. */
function configured(object: Json): readonly ImageAt[] {
  const images: Json = configuredImages(object) ?? {};
  return imageSettings
    .map((setting) => ({ where: `${configKey}, images.${setting}`, image: textOf(images[setting]) }))
    .filter(({ image }) => image !== undefined);
}

const { pullPolicy: _, ...defaultImages } = compiledDefaults.images;
const imageSettings = Object.keys(defaultImages) as readonly (keyof typeof defaultImages)[];

/** Absent: the object is not the platform's configuration. What cannot be read is refused elsewhere. */
function configuredImages({ kind, metadata, data }: Json): Json | undefined {
  if (kind !== 'ConfigMap' || recordOf(metadata)['name'] !== configName) return undefined;
  const parsed = parseConfig(textOf(recordOf(data)[configKey]) ?? '', { layer: 'platform', where: configName });
  return isProblem(parsed) ? {} : { ...parsed.values.images };
}

/** Images that nothing in the app sets for a platform. */
function defaultViolations({ node, namespace }: AgentPlatform): readonly string[] {
  const set = node.root.node
    .findAll()
    .filter((each) => ApiObject.isApiObject(each))
    .filter(({ metadata }) => metadata.namespace === namespace)
    .flatMap((each) => Object.keys(configuredImages(each.toJson() as Json) ?? {}));
  return imageSettings
    .filter((setting) => !set.includes(setting))
    .map((setting) => {
      const image = defaultImages[setting];
      return `config.images.${setting} is not set, and the built-in ${sentence(image)} in config.images.${setting}`;
    });
}
