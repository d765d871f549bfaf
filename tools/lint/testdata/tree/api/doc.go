// Package api is documented where it must be.
package api
