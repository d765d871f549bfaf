package bare // want `package bare has no comment that begins with "Package bare"`
