module github.com/skerryhq/skerry

go 1.26.0
