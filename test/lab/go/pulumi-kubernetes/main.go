// Serves the Kubernetes provider of Pulumi. The two embedded files are made from the provider's module before the build.
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
)

//go:embed gen/schema-embed.json
var schema []byte

//go:embed gen/terraform-mapping-embed.json
var mapping []byte

// Set by the linker.
var version string

func main() {
	provider.Serve("kubernetes", version, schema, mapping)
}
