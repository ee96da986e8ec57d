/** The one name we use of the Kubernetes client, in a module of its own so that a bundler can leave out the rest. */

export { KubeConfig } from '@kubernetes/client-node';
